-- Tasks with an error, newest first: few, and a search for a part of the text reads each.
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_with_error ON worker_tasks (id) WHERE error_message IS NOT NULL
