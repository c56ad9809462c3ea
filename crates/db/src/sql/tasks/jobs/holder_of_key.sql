-- tasks/jobs/holder_of_key.sql: the open job that does the same.
SELECT id FROM worker_tasks WHERE dedup_key = job_key($role, $platform, $account, $payload)
