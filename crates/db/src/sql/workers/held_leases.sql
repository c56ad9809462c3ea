-- The runs that workers left when their process ended, and whether the loss counts against the task: not after half of its lease, since then
-- all processes were away for long, as in `recover_tasks`. $1 ids of workers
SELECT t.id, t.fence, t.worker_id,
       died_alone(t.worker_id, t.claimed_at, t.last_heartbeat_at, t.lease_expires_at, clock_timestamp()) IS TRUE AS is_blamed
  FROM worker_tasks t
 WHERE t.status IN ('claimed', 'running') AND t.worker_id = ANY ($1)
 ORDER BY t.id
 LIMIT 10000
