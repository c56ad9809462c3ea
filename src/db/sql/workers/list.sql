SELECT worker_id, friendly_name, pod, role, roles, status, current_task_ids, active_task_count, max_concurrent_tasks, resources,
       last_heartbeat_at, started_at
  FROM worker_registry ORDER BY pod, friendly_name, worker_id
