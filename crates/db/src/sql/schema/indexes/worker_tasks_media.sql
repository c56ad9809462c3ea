-- schema/indexes/worker_tasks_media.sql: media jobs, of which there are few among millions of crawls
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_media ON worker_tasks (id) WHERE family = 'media'
