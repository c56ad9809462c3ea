-- Writes a worker's row, and marks its predecessors offline: workers of the same name without a heartbeat since its process
-- started. One that lives all the same, elsewhere, is back with its next heartbeat.
-- $seconds: between heartbeats. $started_at: null where unknown; it distinguishes the process from a predecessor of the
-- same name. $host, $pid, and $pid_space, where that is unique: null where unknown.
WITH replaced AS (
  UPDATE worker_registry SET status = 'offline', current_task_ids = '{}', active_task_count = 0
   WHERE worker_id IN (SELECT p.worker_id FROM worker_registry p
                        WHERE p.pod = $pod AND p.friendly_name = $friendly_name AND p.worker_id <> $worker_id
                          AND p.status <> 'offline' AND p.last_heartbeat_at < $started_at
                          FOR UPDATE SKIP LOCKED)     -- a row that is written right now has a heartbeat, or is being swept
)
INSERT INTO worker_registry AS w
       (worker_id, friendly_name, pod, role, roles, status, current_task_ids, active_task_count, max_concurrent_tasks, resources,
        heartbeat_seconds, started_at, drained_at, host, pid, pid_space)
VALUES ($worker_id, $friendly_name, $pod, $role, $roles, $status, $task_ids::bigint[], cardinality($task_ids::bigint[]),
        $slots, $resources, $seconds, coalesce($started_at, now()),
        CASE WHEN $status = 'draining' THEN now() END, $host, $pid, $pid_space)
ON CONFLICT (worker_id) DO UPDATE SET
  friendly_name = excluded.friendly_name, pod = excluded.pod, role = excluded.role, roles = excluded.roles, status = excluded.status,
  current_task_ids = excluded.current_task_ids, active_task_count = excluded.active_task_count,
  max_concurrent_tasks = excluded.max_concurrent_tasks, resources = excluded.resources, heartbeat_seconds = excluded.heartbeat_seconds,
  last_heartbeat_at = now(), started_at = coalesce($started_at, w.started_at), drained_at = coalesce(excluded.drained_at, w.drained_at),
  host = excluded.host, pid = excluded.pid, pid_space = excluded.pid_space
