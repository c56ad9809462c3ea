-- $1 dedup keys
SELECT dedup_key, id FROM worker_tasks WHERE dedup_key = ANY ($1)
