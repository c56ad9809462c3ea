-- Tasks by role and status, and the time. Open ones exactly, each kind by the partial index that holds just
-- it; ended ones as last counted, or counted now when they never were.
WITH open AS (
  SELECT role, 'pending' AS status, count(*) AS tasks FROM worker_tasks WHERE status = 'pending' AND ready GROUP BY role
  UNION ALL
  SELECT role, 'pending', count(*) FROM worker_tasks WHERE status = 'pending' AND NOT ready AND NOT blocked GROUP BY role
  UNION ALL
  SELECT role, 'pending', count(*) FROM worker_tasks WHERE status = 'pending' AND blocked GROUP BY role
  UNION ALL
  SELECT role, CASE WHEN lease_expires_at > now() THEN status ELSE 'stale' END AS shown, count(*)
    FROM worker_tasks WHERE status IN ('claimed', 'running') GROUP BY role, shown
), ended AS (
  SELECT role, status, tasks, as_of FROM task_totals
  UNION ALL
  SELECT role, status, count(*), now() FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled') AND NOT EXISTS (SELECT 1 FROM task_totals) GROUP BY role, status
), counted AS (
  SELECT role, status, tasks, NULL::timestamptz AS as_of FROM open UNION ALL SELECT * FROM ended
)
SELECT json_time(coalesce(c.as_of, now())) AS as_of, c.role, c.status, c.tasks FROM (SELECT) always LEFT JOIN counted c ON true
