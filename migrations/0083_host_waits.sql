-- The host that a task waits for whose breaker is open: it wakes when the breaker closes.
ALTER TABLE worker_tasks ADD COLUMN waits_for_host text;
CREATE INDEX worker_tasks_waits_for_host ON worker_tasks (waits_for_host) WHERE status = 'pending' AND waits_for_host IS NOT NULL;
