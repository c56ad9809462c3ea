-- A run that failed and was undone. Nothing is noted where the schedule has gone on since: that run, or another process's, was
-- committed. $1 schedule, $2 the reason, $3 the next run that it was read with, cut to the years of JSON
UPDATE task_schedules
   SET last_error = left($2, 2000), last_attempt_at = now(), updated_at = now()
 WHERE id = $1 AND json_time(next_run_at) IS NOT DISTINCT FROM $3
