-- All schedules, or only $1. The analytics are early in the time in which hasten_analytics.sql makes them due.
SELECT id, name, role, platform, account, state_code, group_name, args, enabled, cron, time_zone, priority, last_task_count, last_skipped, last_error,
       version,
       CASE WHEN interval_hours IS NOT NULL THEN least(greatest(interval_hours, 1e-6), 1e6)::double precision END AS interval_hours,
       json_time(last_run_at) AS last_run_at,
       json_time(next_run_at) AS next_run_at,
       role = 'analytics_refresh' AND coalesce(last_run_at BETWEEN first_seen_at AND first_seen_at + interval '70 minutes', false) AS is_early
  FROM task_schedules
  LEFT JOIN (SELECT p.first_seen_at FROM store_products p ORDER BY p.id LIMIT 1) first ON true
 WHERE $1::bigint IS NULL OR id = $1
 ORDER BY name
