-- Ended tasks of a role, newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_ended_role ON worker_tasks (role, id) WHERE status IN ('completed', 'failed', 'cancelled')
