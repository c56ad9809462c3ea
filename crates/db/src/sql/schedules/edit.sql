-- Writes the fields of a schedule after a request. Null: $args that do not change; $interval_hours and $cron, both: as before;
-- $next_run where the recurrence is as before; $time_zone where the cron line has none.
UPDATE task_schedules
   SET name = $name, role = $role, platform = $platform, state_code = $state_code, group_name = $group_name,
       args = coalesce($args, args), priority = $priority, enabled = $enabled,
       interval_hours = CASE WHEN $interval_hours::float8 IS NULL AND $cron::text IS NULL THEN interval_hours ELSE $interval_hours::float8::numeric END,
       cron = CASE WHEN $interval_hours IS NULL AND $cron IS NULL THEN cron ELSE $cron END,
       time_zone = CASE WHEN $interval_hours IS NULL AND $cron IS NULL THEN time_zone ELSE $time_zone::text END,
       next_run_at = coalesce($next_run, next_run_at),
       version = version + 1,
       updated_at = now()
 WHERE id = $id
