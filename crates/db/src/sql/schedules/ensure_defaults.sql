-- Adds the default schedules from the first start on; never overwrites an operator's change.
WITH renamed AS (      -- the name that earlier versions gave it
  UPDATE task_schedules SET name = 'payload_fetch_all', updated_at = now()
   WHERE name = 'product_refresh_all' AND NOT EXISTS (SELECT 1 FROM task_schedules WHERE name = 'payload_fetch_all') RETURNING name
)
INSERT INTO task_schedules (name, role, platform, interval_hours, priority, next_run_at)
SELECT d.name, d.role, d.platform, d.hours, d.priority, now()
  FROM unnest($names::text[], $roles::text[], $platforms::text[], $hours::int[], $priorities::int[]) AS d(name, role, platform, hours, priority)
 WHERE d.name NOT IN (SELECT name FROM renamed)
ON CONFLICT (name) DO NOTHING
