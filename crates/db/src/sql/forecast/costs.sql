-- forecast/costs.sql: mean seconds and requests of completed runs by role. Seconds are of 24 hours, from the claim on, since a run fills
-- its slot from then; other programs may write only a start. Requests are of the $1 tasks that ended last within these hours: a day has
-- many tasks, and minutes do not count their requests. Times written by hand may be infinite, which cannot be subtracted, and numbers in a
-- detail may be anything.
WITH counted AS (
  SELECT greatest(now() - interval '24 hours', (SELECT p.closed_until FROM stats_progress p)) AS until
), took AS (
  SELECT role, sum(seconds) / nullif(sum(runs), 0) AS seconds, sum(runs)::bigint AS runs
    FROM (SELECT role, runs, run_seconds AS seconds FROM stats_minute
           WHERE outcome = 'completed' AND minute >= now() - interval '24 hours' AND minute < (SELECT until FROM counted)
          UNION ALL
          SELECT role, count(*), sum(extract(epoch FROM completed_at) - extract(epoch FROM coalesce(claimed_at, started_at)))::double precision FROM worker_tasks
           WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'completed' AND completed_at >= (SELECT until FROM counted)
             AND isfinite(completed_at) AND isfinite(coalesce(claimed_at, started_at)) GROUP BY role) run
   GROUP BY role
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
