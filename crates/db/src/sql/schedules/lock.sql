-- Locks a schedule, and reads the database's time. $1 its id, or null and $2 its name
SELECT id, name, role, cron, time_zone,
       least(greatest(interval_hours, 1e-6), 1e6)::double precision AS interval_hours,
       json_time(next_run_at) AS next_run_at,
       json_time(least(created_at, now())) AS created_at,
       now() AS now
  FROM task_schedules
 WHERE id = $1 OR name = $2
   FOR UPDATE
