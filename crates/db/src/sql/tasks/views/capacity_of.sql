-- The numbers of v_worker_capacity for the roles $1 together, under the name $2. They are not sums of its
-- rows: a worker with several of the roles is one worker, and an average is not the average of averages.
WITH live AS (
  SELECT count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'pending' AND is_due(scheduled_for)) AS ready,
         count(*) FILTER (WHERE status = 'claimed') AS claimed, count(*) FILTER (WHERE status = 'running') AS running
    FROM (SELECT status, scheduled_for FROM worker_tasks WHERE status = 'pending' AND role = ANY ($1)
          UNION ALL
          SELECT status, NULL FROM worker_tasks WHERE status IN ('claimed', 'running') AND role = ANY ($1)) open
), ended AS (
  SELECT count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed
    FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '60 minutes' AND role = ANY ($1)
), took AS (
  SELECT sum(seconds) / nullif(sum(runs), 0) AS seconds, coalesce(sum(runs), 0)::bigint AS runs FROM run_times WHERE role = ANY ($1)
), active AS (
  SELECT count(worker_id) AS workers, avg(w.max_concurrent_tasks)::double precision AS slots
    FROM (SELECT DISTINCT worker_id FROM (
            SELECT worker_id, last_heartbeat_at FROM worker_tasks WHERE status IN ('claimed', 'running') AND role = ANY ($1)
          UNION ALL
          SELECT worker_id, last_heartbeat_at FROM worker_tasks
           WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '5 minutes' AND role = ANY ($1)) run
           WHERE last_heartbeat_at > now() - interval '5 minutes') beat
    LEFT JOIN worker_registry w USING (worker_id) LEFT JOIN worker_names n USING (worker_id)
   WHERE w.status <> 'offline' OR w.worker_id IS NULL AND n.worker_id IS NULL
), usual AS (
  SELECT avg(max_concurrent_tasks)::double precision AS slots FROM worker_registry WHERE status <> 'offline'
), pace AS (
  SELECT 3600 * coalesce(a.slots, u.slots, 1) / nullif(s.seconds, 0) AS tasks FROM took s, active a, usual u
)
SELECT $2::text AS role, l.pending AS pending_tasks, l.ready AS ready_tasks, l.claimed AS claimed_tasks, l.running AS running_tasks,
       e.completed AS completed_last_hour, e.failed AS failed_last_hour, a.workers AS active_workers, s.seconds AS avg_duration_sec,
       p.tasks AS tasks_per_worker_hour,
       l.pending / nullif(p.tasks * a.workers, 0) AS estimated_hours_to_drain,
       s.runs AS measured_runs
  FROM live l, ended e, took s, active a, pace p
