-- $1 schedule, $2 what is wrong with it
UPDATE task_schedules SET last_error = $2, next_run_at = now() + interval '1 hour', updated_at = now() WHERE id = $1
