SELECT id, name, role, args, platform, state_code, priority, interval_hours::double precision, cron, next_run_at, created_at, now() AS now
  FROM task_schedules WHERE name = $1 FOR UPDATE
