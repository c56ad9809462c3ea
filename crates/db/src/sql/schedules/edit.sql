-- Writes the fields of a schedule after a request. $1 schedule, $2 name, $3 role, $4 platform, $5 state, $6
-- group, $7 its tasks' arguments if they change, $8 hours or null, $9 cron line or null (both null: as
-- before), $10 priority, $11 enabled, $12 its next run if the recurrence changes, $13 the
-- cron line's time zone or null
UPDATE task_schedules
   SET name = $2, role = $3, platform = $4, state_code = $5, group_name = $6, args = coalesce($7, args), priority = $10, enabled = $11,
       interval_hours = CASE WHEN $8::float8 IS NULL AND $9::text IS NULL THEN interval_hours ELSE $8::float8::numeric END,
       cron = CASE WHEN $8 IS NULL AND $9 IS NULL THEN cron ELSE $9 END,
       time_zone = CASE WHEN $8 IS NULL AND $9 IS NULL THEN time_zone ELSE $13::text END,
       next_run_at = coalesce($12, next_run_at),
       version = version + 1,
       updated_at = now()
 WHERE id = $1
