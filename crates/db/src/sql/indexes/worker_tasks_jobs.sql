-- indexes/worker_tasks_jobs.sql: media jobs, of which there are few among millions of crawls; as the view
-- worker_job_queue names them
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_jobs ON worker_tasks (id)
 WHERE role IN ('scrape_account', 'download_media', 'paid_content_sync', 'paid_content_creator', 'forum_scrape',
                'youtube_monitor', 'easynews_monitor', 'appearances_sync')
