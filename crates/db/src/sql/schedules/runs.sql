-- The latest runs of a schedule, newest first, each with the states of the tasks that it made: they have the time of its transaction. Tasks
-- are read by the indexes of their states, the newest first. $1 schedule, $2 maximum number of runs, $3 maximum number of tasks of each kind
WITH runs AS (
  SELECT due_at, created_at, task_count, skipped FROM schedule_runs WHERE schedule_id = $1 ORDER BY created_at DESC LIMIT $2
), made AS (
  (SELECT t.created_at, t.status, t.completed_at FROM worker_tasks t
    WHERE t.schedule_id = $1 AND t.status IN ('completed', 'failed', 'cancelled') ORDER BY t.id DESC LIMIT $3)
  UNION ALL
  (SELECT t.created_at, t.status, NULL FROM worker_tasks t
    WHERE t.schedule_id = $1 AND t.status = 'pending' ORDER BY t.id DESC LIMIT $3)
  UNION ALL
  (SELECT t.created_at, t.status, NULL FROM worker_tasks t
    WHERE t.schedule_id = $1 AND t.status IN ('claimed', 'running') ORDER BY t.id DESC LIMIT $3)
)
SELECT json_time(r.due_at) AS due_at, json_time(r.created_at) AS made_at, r.task_count AS tasks, r.skipped,
       count(*) FILTER (WHERE m.status = 'completed') AS completed,
       count(*) FILTER (WHERE m.status = 'failed') AS failed,
       count(*) FILTER (WHERE m.status = 'cancelled') AS cancelled,
       count(*) FILTER (WHERE m.status IN ('pending', 'claimed', 'running')) AS open,
       json_time(max(m.completed_at)) AS last_end_at
  FROM runs r LEFT JOIN made m ON m.created_at = r.created_at
 GROUP BY r.due_at, r.created_at, r.task_count, r.skipped
 ORDER BY r.created_at DESC
