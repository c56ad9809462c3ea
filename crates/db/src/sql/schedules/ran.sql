-- Records the result of a run, in its own row and in its schedule's. $1 schedule, $2 its due time, $3 the
-- next one, $4 tasks made, $5 stores skipped by reason
WITH run AS (
  UPDATE schedule_runs SET task_count = $4, skipped = $5 WHERE schedule_id = $1 AND due_at = $2
)
UPDATE task_schedules
   SET last_run_at = now(), last_attempt_at = now(), next_run_at = $3, last_task_count = $4, last_skipped = $5, last_error = NULL, updated_at = now()
 WHERE id = $1
