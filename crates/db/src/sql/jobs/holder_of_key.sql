-- jobs/holder_of_key.sql: the open job that does the same. $1 type, $2 platform, $3 account, $4 arguments
SELECT id FROM worker_tasks WHERE dedup_key = job_key($1, $2, $3, $4)
