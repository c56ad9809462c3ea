-- Ended tasks that a schedule made, newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_ended_schedule ON worker_tasks (schedule_id, id)
 WHERE status IN ('completed', 'failed', 'cancelled') AND schedule_id IS NOT NULL
