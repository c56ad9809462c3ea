-- Marks workers offline after three missed heartbeats, and deletes them after a day, as commands are.
WITH old_workers AS (
  DELETE FROM worker_registry WHERE status = 'offline' AND last_heartbeat_at < now() - interval '1 day'
), old_names AS (
  -- longer than tasks are kept by default
  DELETE FROM worker_names WHERE left_at < now() - interval '90 days'
), old_commands AS (
  DELETE FROM worker_commands WHERE created_at < now() - interval '1 day'
), silent AS (
  SELECT worker_id FROM worker_registry w
   WHERE status <> 'offline' AND is_silent(w)
     FOR UPDATE SKIP LOCKED     -- a worker that is written right now is not silent
)
UPDATE worker_registry SET status = 'offline', current_task_ids = '{}', active_task_count = 0
 WHERE worker_id IN (SELECT worker_id FROM silent)
