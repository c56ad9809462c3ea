-- tasks/waiting_leases.sql: tasks of workers that have left or missed three heartbeats, and the end of the
-- last of their leases. Workers of other programs need not be registered. Where no process runs, no sweep
-- has marked a silent worker as offline.
SELECT count(*) AS waiting, json_time(max(t.lease_expires_at)) AS waiting_until
  FROM worker_tasks t
  LEFT JOIN worker_registry w USING (worker_id)
  LEFT JOIN worker_names n USING (worker_id)
 WHERE t.status IN ('claimed', 'running') AND t.lease_expires_at > now() AND isfinite(t.lease_expires_at)
   AND (w.status = 'offline'
        OR is_silent(w)
        OR w.worker_id IS NULL AND n.worker_id IS NOT NULL)
