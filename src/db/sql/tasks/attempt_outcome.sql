-- $1 task, $2 fence
SELECT outcome FROM task_attempts WHERE task_id = $1 AND fence = $2
