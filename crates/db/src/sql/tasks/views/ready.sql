-- Number of tasks of each role that may be claimed now, and the seconds since the oldest was due: finite with any dates.
SELECT role, count(*) AS tasks,
       least(greatest(date_part('epoch', now()) - date_part('epoch', min(greatest(created_at, scheduled_for))), 0), 1e9) AS oldest_seconds
  FROM worker_tasks
 WHERE status = 'pending' AND ready
 GROUP BY role
