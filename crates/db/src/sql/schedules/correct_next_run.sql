-- Replaces a next run that is later than the recurrence allows, unless it has changed since it was read. $1
-- schedule, $2 the next run that was read, cut to the years of JSON, $3 the new one
UPDATE task_schedules
   SET next_run_at = $3, updated_at = now()
 WHERE id = $1 AND json_time(next_run_at) = $2
