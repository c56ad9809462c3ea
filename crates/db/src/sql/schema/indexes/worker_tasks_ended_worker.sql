-- Ended tasks of a worker, newest first, and of workers whose ids begin alike.
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_ended_worker ON worker_tasks (worker_id text_pattern_ops, id) WHERE status IN ('completed', 'failed', 'cancelled')
