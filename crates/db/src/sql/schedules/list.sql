-- All schedules, or only $1.
SELECT id, name, role, platform, account, state_code, group_name, args, enabled, cron, priority, last_task_count, last_skipped, last_error,
       version,
       CASE WHEN interval_hours IS NOT NULL THEN least(greatest(interval_hours, 1e-6), 1e6)::double precision END AS interval_hours,
       json_time(last_run_at) AS last_run_at,
       json_time(next_run_at) AS next_run_at
  FROM task_schedules
 WHERE $1::bigint IS NULL OR id = $1
 ORDER BY name
