-- $1 tasks as JSON, $2 the keys of their work
SELECT task_id, outcome, other FROM request_tasks($1, $2)
