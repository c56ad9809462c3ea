-- Skips a due time that was run already, and returns the result of that run. $1 schedule, $2 due time, $3 the
-- next one
WITH moved AS (
  UPDATE task_schedules SET next_run_at = $3, last_attempt_at = now() WHERE id = $1
)
SELECT task_count, skipped FROM schedule_runs WHERE schedule_id = $1 AND due_at = $2
