-- Which tasks each worker holds by a lease that has not run out.
SELECT worker_id, array_agg(id ORDER BY id) AS ids
  FROM worker_tasks
 WHERE status IN ('claimed', 'running') AND lease_expires_at > now() AND worker_id IS NOT NULL
 GROUP BY worker_id
