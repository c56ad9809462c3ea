-- Adds an operator's schedule. Either $interval_hours or $cron is null; $time_zone is of the cron line, or null.
INSERT INTO task_schedules (name, role, platform, state_code, group_name, priority, interval_hours, cron, next_run_at, enabled, args, time_zone)
VALUES ($name, $role, $platform, $state_code, $group_name, $priority, $interval_hours::float8::numeric, $cron, $first_run, $enabled, $args, $time_zone)
RETURNING id
