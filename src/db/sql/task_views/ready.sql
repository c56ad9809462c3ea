-- By role: tasks that may be claimed now, and for how many seconds the oldest has been due.
SELECT role, count(*) AS tasks, extract(epoch FROM now() - min(greatest(created_at, scheduled_for)))::float8 AS oldest_seconds
  FROM worker_tasks WHERE status = 'pending' AND ready GROUP BY role
