-- One due schedule, if no other replica has it in hand, and the database's time.
SELECT id, name, role, args, platform, state_code, priority, interval_hours::double precision, cron, next_run_at, created_at, now() AS now
  FROM task_schedules
 WHERE enabled AND (next_run_at IS NULL OR next_run_at <= now())
 ORDER BY next_run_at NULLS FIRST, id LIMIT 1 FOR UPDATE SKIP LOCKED
