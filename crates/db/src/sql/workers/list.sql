-- The workers, or only $1. Times are cut to the range of Rust.
SELECT worker_id, friendly_name, pod, role, roles, status, current_task_ids, active_task_count, max_concurrent_tasks, resources,
       json_time(last_heartbeat_at) AS last_heartbeat_at,
       json_time(started_at) AS started_at
  FROM worker_registry
 WHERE worker_id = $1 OR $1 IS NULL
 ORDER BY pod, friendly_name, worker_id
