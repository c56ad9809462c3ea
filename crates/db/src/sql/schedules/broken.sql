-- Puts a schedule that cannot be read off for an hour. $1 schedule, $2 its fault
UPDATE task_schedules
   SET last_error = left($2, 2000), last_attempt_at = now(), next_run_at = now() + interval '1 hour', updated_at = now()
 WHERE id = $1
