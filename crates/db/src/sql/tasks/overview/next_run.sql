-- The next run of an enabled schedule, and the time now.
SELECT min(next_run_at) FILTER (WHERE enabled) AS next_run_at, clock_timestamp() AS now FROM task_schedules
