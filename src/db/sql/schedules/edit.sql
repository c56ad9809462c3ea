-- Changes what is given. $1 name, $2 hours or null, $3 cron line or null (both null: as before), $4 whether the group changes, $5 to what,
-- $6 priority or null, $7 enabled or null, $8 its next run where the recurrence changes
UPDATE task_schedules
   SET interval_hours = CASE WHEN $2::float8 IS NULL AND $3::text IS NULL THEN interval_hours ELSE $2::float8::numeric END,
       cron = CASE WHEN $2 IS NULL AND $3 IS NULL THEN cron ELSE $3 END,
       next_run_at = coalesce($8, next_run_at),
       group_name = CASE WHEN $4 THEN $5 ELSE group_name END,
       priority = coalesce($6, priority),
       enabled = coalesce($7, enabled),
       version = version + 1,
       updated_at = now()
 WHERE name = $1
