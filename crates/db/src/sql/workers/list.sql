-- The workers, or only $1. An offline worker is listed only if no other process has taken its name since. Times are cut to
-- the range of Rust.
SELECT w.worker_id, w.friendly_name, w.pod, w.role, w.roles, w.status, w.current_task_ids, w.active_task_count, w.max_concurrent_tasks,
       w.resources,
       json_time(w.last_heartbeat_at) AS last_heartbeat_at,
       json_time(w.started_at) AS started_at
  FROM worker_registry w
 WHERE w.worker_id = $1
    OR $1 IS NULL
   AND (w.status <> 'offline'
        OR NOT EXISTS (SELECT FROM worker_registry s
                        WHERE s.pod = w.pod AND s.friendly_name = w.friendly_name AND (s.status <> 'offline' OR s.started_at > w.started_at)))
 ORDER BY w.pod, w.friendly_name, w.worker_id
