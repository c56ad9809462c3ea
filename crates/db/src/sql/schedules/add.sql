-- Adds an operator's schedule. $1 name, $2 role, $3 platform, $4 state, $5 group, $6 priority, $7 hours or
-- null, $8 cron line or null, $9 its first run, $10 enabled, $11 its tasks' arguments, $12 the cron line's time zone or null
INSERT INTO task_schedules (name, role, platform, state_code, group_name, priority, interval_hours, cron, next_run_at, enabled, args, time_zone)
VALUES ($1, $2, $3, $4, $5, $6, $7::float8::numeric, $8, $9, $10, $11, $12)
RETURNING id
