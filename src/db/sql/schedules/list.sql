SELECT id, name, role, platform, state_code, enabled, interval_hours::double precision, cron, priority, last_run_at, next_run_at, last_task_count, last_error
  FROM task_schedules ORDER BY name
