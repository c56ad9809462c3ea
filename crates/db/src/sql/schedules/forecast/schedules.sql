-- schedules/forecast/schedules.sql: the enabled schedules, with the number of stores that each makes a task for, as run_schedule counts them; null
-- for the roles that are not in $1, whose schedules make one task.
SELECT s.role, s.interval_hours::double precision AS interval_hours, s.cron, s.time_zone, clock_timestamp() AS now,
       CASE WHEN s.role = ANY ($1::text[]) THEN (
         SELECT count(*) FROM dispensaries d
          WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL AND is_for_store(s, d)
            -- most stores are in no group, and the call is expensive
            AND (s.group_name IS NOT NULL OR d.groups = '{}' OR NOT has_group_schedule(s.role, d))) END AS stores
  FROM task_schedules s
 WHERE s.enabled
 ORDER BY s.id
