-- The first $2 tasks that task $1 made.
SELECT id FROM worker_tasks WHERE parent_task_id = $1 ORDER BY id LIMIT $2
