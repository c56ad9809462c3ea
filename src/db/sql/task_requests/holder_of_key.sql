-- $1 dedup key
SELECT id FROM worker_tasks WHERE dedup_key = $1
