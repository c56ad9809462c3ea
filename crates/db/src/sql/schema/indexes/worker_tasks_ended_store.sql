-- Ended tasks of a store, newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_ended_store ON worker_tasks (dispensary_id, id) WHERE status IN ('completed', 'failed', 'cancelled')
