-- One process at a time; an index-only count over the ended tasks.
WITH mine AS (SELECT pg_try_advisory_xact_lock(7342) AS locked),
     counted AS (
       SELECT t.role, t.status, count(*) AS tasks FROM worker_tasks t, mine
        WHERE mine.locked AND t.status IN ('completed', 'failed', 'cancelled') GROUP BY 1, 2),
     emptied AS (
       UPDATE task_totals SET tasks = 0, as_of = now() FROM mine
        WHERE mine.locked AND (role, status) NOT IN (SELECT role, status FROM counted))
INSERT INTO task_totals (role, status, tasks, as_of) SELECT role, status, tasks, now() FROM counted
ON CONFLICT (role, status) DO UPDATE SET tasks = excluded.tasks, as_of = excluded.as_of
