-- jobs/pending_counts.sql: how many jobs wait, by platform.
SELECT platform, count(*) AS count FROM worker_job_queue WHERE status = 'pending' GROUP BY platform ORDER BY platform
