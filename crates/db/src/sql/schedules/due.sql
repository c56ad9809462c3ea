-- One due schedule that no other process is running, and the database's time: the one that was tried longest
-- ago, so that a failing one does not stop the others. One that has just failed is left alone for 50 s, until
-- the next round.
SELECT id, name, role, cron, time_zone,
       least(greatest(interval_hours, 1e-6), 1e6)::double precision AS interval_hours,
       json_time(next_run_at) AS next_run_at,
       json_time(least(created_at, now())) AS created_at,
       now() AS now
  FROM task_schedules
 WHERE enabled
   AND (next_run_at IS NULL OR next_run_at <= now())
   AND (last_error IS NULL OR last_attempt_at IS NULL OR last_attempt_at NOT BETWEEN now() - interval '50 seconds' AND now())
 ORDER BY last_attempt_at NULLS FIRST, next_run_at NULLS FIRST, id
 LIMIT 1
   FOR UPDATE SKIP LOCKED
