-- Ended tasks of a platform that few have, newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_ended_platform ON worker_tasks (platform, id) WHERE status IN ('completed', 'failed', 'cancelled') AND platform <> 'dutchie'
