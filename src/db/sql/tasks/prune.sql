-- Ended tasks past their retention, with their attempts, one batch. $1 seconds for completed, $2 for the others, $3 batch
WITH old AS (
  SELECT id FROM worker_tasks
   WHERE status = 'completed' AND completed_at < now() - make_interval(secs => $1)
      OR status IN ('failed', 'cancelled') AND completed_at < now() - make_interval(secs => $2)
   ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
), attempts AS (
  DELETE FROM task_attempts a USING old WHERE a.task_id = old.id
)
DELETE FROM worker_tasks t USING old WHERE t.id = old.id
