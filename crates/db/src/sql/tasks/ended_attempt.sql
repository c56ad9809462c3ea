-- The task's status counts while no later run has changed it. $1 task, $2 fence
SELECT a.outcome,
       coalesce((SELECT t.status FROM worker_tasks t WHERE t.id = $1 AND t.fence = $2), 'pending') AS status
  FROM task_attempts a
 WHERE a.task_id = $1 AND a.fence = $2 AND a.outcome IS NOT NULL
