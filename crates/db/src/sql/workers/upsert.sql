-- Writes a worker's row, and marks its predecessors offline: workers of the same name without a heartbeat since its process
-- started. One that lives all the same, elsewhere, is back with its next heartbeat.
-- $1 worker, $2 friendly name, $3 pod, $4 role, $5 roles, $6 status, $7 task ids, $8 slots, $9 resources, $10
-- seconds between heartbeats, $11 when its process started; null: unknown. It distinguishes the process from
-- a predecessor of the same name. $12 host, $13 process number, $14 where that is unique; null: unknown.
WITH replaced AS (
  UPDATE worker_registry SET status = 'offline', current_task_ids = '{}', active_task_count = 0
   WHERE worker_id IN (SELECT p.worker_id FROM worker_registry p
                        WHERE p.pod = $3 AND p.friendly_name = $2 AND p.worker_id <> $1 AND p.status <> 'offline' AND p.last_heartbeat_at < $11
                          FOR UPDATE SKIP LOCKED)     -- a row that is written right now has a heartbeat, or is being swept
)
INSERT INTO worker_registry AS w
       (worker_id, friendly_name, pod, role, roles, status, current_task_ids, active_task_count, max_concurrent_tasks, resources,
        heartbeat_seconds, started_at, drained_at, host, pid, pid_space)
VALUES ($1, $2, $3, $4, $5, $6, $7::bigint[], cardinality($7::bigint[]), $8, $9, $10, coalesce($11, now()),
        CASE WHEN $6 = 'draining' THEN now() END, $12, $13, $14)
ON CONFLICT (worker_id) DO UPDATE SET
  friendly_name = excluded.friendly_name, pod = excluded.pod, role = excluded.role, roles = excluded.roles, status = excluded.status,
  current_task_ids = excluded.current_task_ids, active_task_count = excluded.active_task_count,
  max_concurrent_tasks = excluded.max_concurrent_tasks, resources = excluded.resources, heartbeat_seconds = excluded.heartbeat_seconds,
  last_heartbeat_at = now(), started_at = coalesce($11, w.started_at), drained_at = coalesce(excluded.drained_at, w.drained_at),
  host = excluded.host, pid = excluded.pid, pid_space = excluded.pid_space
