-- The runs under way, at most $1.
SELECT id AS task_id, fence FROM worker_tasks WHERE status IN ('claimed', 'running') LIMIT $1
