-- tasks/jobs/pending_counts.sql: number of waiting jobs, by platform.
SELECT platform, count(*) AS count FROM worker_job_queue WHERE status = 'pending' GROUP BY platform ORDER BY platform
