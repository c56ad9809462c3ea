-- The jobs of older queues that were imported, so that a second import adds nothing. A row outlives its task.

CREATE TABLE imported_jobs (
  source  text NOT NULL,      -- the older queue
  old_id  bigint NOT NULL,    -- the job's id there
  made_at timestamptz,        -- its creation there; another time is the sign of another queue with the same name
  task_id bigint NOT NULL,
  PRIMARY KEY (source, old_id)
);
