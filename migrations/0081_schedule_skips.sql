-- Stores that a run of a schedule made no task for, counted by reason.
ALTER TABLE schedule_runs ADD COLUMN skipped jsonb NOT NULL DEFAULT '{}';
ALTER TABLE task_schedules ADD COLUMN last_skipped jsonb NOT NULL DEFAULT '{}';

-- The schedule of all stores under its old name, where the new one is there too: each store was crawled twice.
UPDATE task_schedules
   SET enabled = false, last_error = 'switched off: payload_fetch_all is its current name'
 WHERE name = 'product_refresh_all' AND EXISTS (SELECT FROM task_schedules WHERE name = 'payload_fetch_all');
