-- Times are cut to what Rust can read.
SELECT worker_id, friendly_name, pod, role, roles, status, current_task_ids, active_task_count, max_concurrent_tasks, resources,
       CASE WHEN last_heartbeat_at IS NOT NULL THEN least(greatest(last_heartbeat_at, 'epoch'), '9999-12-31') END AS last_heartbeat_at,
       CASE WHEN started_at IS NOT NULL THEN least(greatest(started_at, 'epoch'), '9999-12-31') END AS started_at
  FROM worker_registry
 ORDER BY pod, friendly_name, worker_id
