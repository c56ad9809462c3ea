-- $1 worker, $2 friendly name, $3 pod, $4 role, $5 roles, $6 status, $7 task ids, $8 slots, $9 resources, $10
-- seconds between heartbeats, $11 when its process started; null: unknown. It distinguishes the process from
-- a predecessor of the same name.
INSERT INTO worker_registry AS w
       (worker_id, friendly_name, pod, role, roles, status, current_task_ids, active_task_count, max_concurrent_tasks, resources,
        heartbeat_seconds, started_at, drained_at)
VALUES ($1, $2, $3, $4, $5, $6, $7::bigint[], cardinality($7::bigint[]), $8, $9, $10, coalesce($11, now()),
        CASE WHEN $6 = 'draining' THEN now() END)
ON CONFLICT (worker_id) DO UPDATE SET
  friendly_name = excluded.friendly_name, pod = excluded.pod, role = excluded.role, roles = excluded.roles, status = excluded.status,
  current_task_ids = excluded.current_task_ids, active_task_count = excluded.active_task_count,
  max_concurrent_tasks = excluded.max_concurrent_tasks, resources = excluded.resources, heartbeat_seconds = excluded.heartbeat_seconds,
  last_heartbeat_at = now(), started_at = coalesce($11, w.started_at), drained_at = coalesce(excluded.drained_at, w.drained_at)
