-- Moves the leases of one process on. $1 ids, $2 fences, $3 workers, $4 lease in seconds
WITH mine AS (
  SELECT t.id FROM worker_tasks t JOIN unnest($1::bigint[], $2::bigint[], $3::text[]) AS held(id, fence, worker_id) USING (id, fence, worker_id)
   WHERE t.status IN ('claimed', 'running') AND t.lease_expires_at > clock_timestamp()
   ORDER BY t.id
     FOR UPDATE OF t SKIP LOCKED      -- a row being settled right now needs no renewal, and must not make the others wait
)
UPDATE worker_tasks t SET last_heartbeat_at = now(), lease_expires_at = now() + make_interval(secs => $4)
  FROM mine WHERE t.id = mine.id RETURNING t.id
