-- Which exchange of a claimer claimed a task, so that a claim whose answer was lost can be asked for; when periodic work of the
-- queue was last done, so that many processes do it no more often than one; when a schedule was last tried.

ALTER TABLE worker_tasks ADD COLUMN claim_token uuid;
ALTER TABLE task_schedules ADD COLUMN last_attempt_at timestamptz;

CREATE TABLE queue_chores (
  name text PRIMARY KEY,
  done_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  unbroken_since timestamptz NOT NULL DEFAULT clock_timestamp()   -- since when there was no longer break between two turns
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
