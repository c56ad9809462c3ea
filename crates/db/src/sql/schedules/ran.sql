-- Records the result of a run, in its own row and in its schedule's. $skipped: stores by reason
WITH run AS (
  UPDATE schedule_runs SET task_count = $tasks, skipped = $skipped WHERE schedule_id = $id AND due_at = $due_at
)
UPDATE task_schedules
   SET last_run_at = now(), last_attempt_at = now(), next_run_at = $next, last_task_count = $tasks, last_skipped = $skipped,
       last_error = NULL, updated_at = now()
 WHERE id = $id
