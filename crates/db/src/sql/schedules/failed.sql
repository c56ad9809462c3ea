-- Records a run that failed and was undone, unless the schedule has moved on since: then that run, or another
-- process's, was committed. $1 schedule, $2 the reason, $3 the next run that was read, cut to the years of
-- JSON
UPDATE task_schedules
   SET last_error = left($2, 2000), last_attempt_at = now(), updated_at = now()
 WHERE id = $1 AND json_time(next_run_at) IS NOT DISTINCT FROM $3
