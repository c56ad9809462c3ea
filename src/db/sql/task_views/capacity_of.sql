-- The numbers of v_worker_capacity for the roles $1 together, under the name $2. Not sums of its rows: a worker that does several of the
-- roles is one worker, and an average is not made of averages.
WITH live AS (
  SELECT count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'pending' AND ready) AS ready,
         count(*) FILTER (WHERE status = 'claimed') AS claimed, count(*) FILTER (WHERE status = 'running') AS running
    FROM (SELECT status, ready FROM worker_tasks WHERE status = 'pending' AND role = ANY ($1)
          UNION ALL
          SELECT status, ready FROM worker_tasks WHERE status IN ('claimed', 'running') AND role = ANY ($1)) open
), ended AS (
  SELECT count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed
    FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '60 minutes' AND role = ANY ($1)
), counted AS (
  SELECT greatest(now() - interval '24 hours', (SELECT p.closed_until FROM stats_progress p)) AS until
), took AS (
  SELECT sum(seconds) / nullif(sum(runs), 0) AS seconds
    FROM (SELECT runs, run_seconds AS seconds FROM stats_minute
           WHERE outcome = 'completed' AND minute >= now() - interval '24 hours' AND minute < (SELECT until FROM counted)
             AND role = ANY ($1)
          UNION ALL
          SELECT count(*), sum(extract(epoch FROM completed_at) - extract(epoch FROM started_at))::double precision FROM worker_tasks
           WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'completed' AND completed_at >= (SELECT until FROM counted)
             AND isfinite(completed_at) AND isfinite(started_at) AND role = ANY ($1)) run
), active AS (
  SELECT count(DISTINCT worker_id) AS workers
    FROM (SELECT worker_id, last_heartbeat_at FROM worker_tasks WHERE status IN ('claimed', 'running') AND role = ANY ($1)
          UNION ALL
          SELECT worker_id, last_heartbeat_at FROM worker_tasks
           WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '5 minutes' AND role = ANY ($1)) run
   WHERE last_heartbeat_at > now() - interval '5 minutes'
)
SELECT $2::text AS role, l.pending AS pending_tasks, l.ready AS ready_tasks, l.claimed AS claimed_tasks, l.running AS running_tasks,
       e.completed AS completed_last_hour, e.failed AS failed_last_hour, a.workers AS active_workers, s.seconds AS avg_duration_sec,
       3600 / nullif(s.seconds, 0) AS tasks_per_worker_hour,
       l.pending * s.seconds / 3600 / nullif(a.workers, 0) AS estimated_hours_to_drain
  FROM live l, ended e, took s, active a
