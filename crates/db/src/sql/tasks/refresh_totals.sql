-- An index-only count over the ended tasks.
WITH counted AS (
  SELECT role, status, count(*) AS tasks
    FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled')
   GROUP BY role, status
), zeroed AS (
  UPDATE task_totals
     SET tasks = 0, as_of = now()
   WHERE (role, status) NOT IN (SELECT role, status FROM counted)
)
INSERT INTO task_totals (role, status, tasks, as_of)
SELECT role, status, tasks, now() FROM counted ORDER BY role, status
ON CONFLICT (role, status) DO UPDATE SET tasks = excluded.tasks, as_of = excluded.as_of
