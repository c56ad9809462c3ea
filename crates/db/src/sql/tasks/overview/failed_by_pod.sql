-- Tasks that failed within the last hour, by the pod of the worker that ran them last. $1: maximum number of tasks read, the latest ones
SELECT w.pod, count(*) AS tasks
  FROM (SELECT worker_id
          FROM worker_tasks
         WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'failed' AND completed_at > now() - interval '1 hour'
         ORDER BY completed_at DESC
         LIMIT $1) t
  JOIN worker_registry w ON w.worker_id = t.worker_id
 GROUP BY w.pod
