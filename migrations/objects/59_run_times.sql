-- Completed runs of the last 24 hours by role: their number and their seconds, from the claim on, since a run fills its slot from then;
-- other programs may write only a start. stats_minute has the runs of closed minutes; later ones are read from the tasks, of which a day has
-- many. Times that were written by hand may be infinite, which cannot be subtracted.

CREATE OR REPLACE VIEW run_times AS
WITH counted AS (SELECT greatest(now() - interval '24 hours', (SELECT p.closed_until FROM stats_progress p)) AS until)
SELECT role, sum(seconds) AS seconds, sum(runs)::bigint AS runs FROM (
         SELECT role, runs, run_seconds AS seconds FROM stats_minute
          WHERE outcome = 'completed' AND minute >= now() - interval '24 hours' AND minute < (SELECT until FROM counted)
         UNION ALL
         SELECT role, count(*), sum(extract(epoch FROM completed_at) - extract(epoch FROM coalesce(claimed_at, started_at)))::double precision FROM worker_tasks
          WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'completed' AND completed_at >= (SELECT until FROM counted)
            AND isfinite(completed_at) AND isfinite(coalesce(claimed_at, started_at)) GROUP BY role) run GROUP BY role;
