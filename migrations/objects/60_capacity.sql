-- Capacity by role, for users: how many tasks wait and run, how long a task takes, how many tasks a worker does in all its slots, and how
-- long the active workers need for the waiting tasks.

CREATE OR REPLACE VIEW v_worker_capacity AS
WITH live AS (
       SELECT role, count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'pending' AND is_due(scheduled_for)) AS ready,
              count(*) FILTER (WHERE status = 'claimed') AS claimed, count(*) FILTER (WHERE status = 'running') AS running
         FROM (SELECT role, status, scheduled_for FROM worker_tasks WHERE status = 'pending'   -- each kind by its own partial index
               UNION ALL
               SELECT role, status, NULL FROM worker_tasks WHERE status IN ('claimed', 'running')) open GROUP BY role),
     ended AS (
       SELECT role, count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed
         FROM worker_tasks WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '60 minutes'
        GROUP BY role),
     took AS (SELECT role, seconds / nullif(runs, 0) AS seconds, runs FROM run_times),
     active AS (   -- workers with a heartbeat in the last 5 minutes; a task has none after its end, so those ended earlier are not read.
                   -- One that is offline or has left is no capacity; workers of other programs need not be registered
       SELECT beat.role, count(beat.worker_id) AS workers, avg(w.max_concurrent_tasks)::double precision AS slots FROM (
         SELECT DISTINCT role, worker_id FROM (
           SELECT role, worker_id, last_heartbeat_at FROM worker_tasks WHERE status IN ('claimed', 'running')
           UNION ALL
           SELECT role, worker_id, last_heartbeat_at FROM worker_tasks
            WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '5 minutes') run
          WHERE last_heartbeat_at > now() - interval '5 minutes') beat
         LEFT JOIN worker_registry w USING (worker_id) LEFT JOIN worker_names n USING (worker_id)
        WHERE w.status <> 'offline' OR w.worker_id IS NULL AND n.worker_id IS NULL GROUP BY beat.role),
     usual AS (   -- average slots of a worker, used if those of the role's workers are not known
       SELECT avg(max_concurrent_tasks)::double precision AS slots FROM worker_registry WHERE status <> 'offline'),
     pace AS (SELECT took.role, 3600 * coalesce(a.slots, u.slots, 1) / nullif(took.seconds, 0) AS tasks
                FROM took CROSS JOIN usual u LEFT JOIN active a USING (role)),
     roles AS (SELECT role FROM live UNION SELECT role FROM ended UNION SELECT role FROM took)
SELECT r.role, coalesce(l.pending, 0) AS pending_tasks, coalesce(l.ready, 0) AS ready_tasks, coalesce(l.claimed, 0) AS claimed_tasks,
       coalesce(l.running, 0) AS running_tasks, coalesce(e.completed, 0) AS completed_last_hour, coalesce(e.failed, 0) AS failed_last_hour,
       coalesce(a.workers, 0) AS active_workers, s.seconds AS avg_duration_sec,
       p.tasks AS tasks_per_worker_hour,
       coalesce(l.pending, 0) / nullif(p.tasks * a.workers, 0) AS estimated_hours_to_drain,   -- null without active workers
       coalesce(s.runs, 0) AS measured_runs
  FROM roles r LEFT JOIN live l USING (role) LEFT JOIN ended e USING (role) LEFT JOIN took s USING (role) LEFT JOIN active a USING (role)
       LEFT JOIN pace p USING (role);
