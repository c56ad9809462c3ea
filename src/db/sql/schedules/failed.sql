-- A run that failed and was undone. $1 schedule, $2 the reason
UPDATE task_schedules
   SET last_error = left($2, 2000), last_attempt_at = now(), updated_at = now()
 WHERE id = $1
