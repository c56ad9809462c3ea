-- $1 schedule, $2 next slot, $3 tasks made
UPDATE task_schedules SET last_run_at = now(), next_run_at = $2, last_task_count = $3, last_error = NULL, updated_at = now() WHERE id = $1
