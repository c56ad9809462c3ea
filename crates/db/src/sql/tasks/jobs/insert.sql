-- tasks/jobs/insert.sql: queues a job.
SELECT insert_job($role, $platform, $account, $priority, $payload, $scheduled_for, $max_retries, $depends_on)
