-- Tasks that were retried, newest first, and how often.
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_retried ON worker_tasks (id, retry_count) WHERE retry_count > 0
