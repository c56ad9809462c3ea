-- schedules/forecast/costs.sql: mean seconds and requests of completed runs by role. Seconds are of 24 hours. Requests are of the $1 tasks that ended
-- last within these hours: a day has many tasks, and minutes do not count their requests. Numbers in a detail may be anything.
WITH took AS (
  SELECT role, seconds / nullif(runs, 0) AS seconds, runs FROM run_times
), latest AS (
  SELECT role, status, detail FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '24 hours'
   ORDER BY completed_at DESC
   LIMIT $1
), sent AS (
  SELECT role, avg(least(greatest((detail->>'requests')::numeric, 0), 1e9))::double precision AS requests
    FROM latest
   WHERE status = 'completed' AND jsonb_typeof(detail->'requests') = 'number'
   GROUP BY role
)
SELECT role, t.seconds, coalesce(t.runs, 0) AS runs, s.requests FROM took t FULL JOIN sent s USING (role)
