-- Runs whose task was cancelled while a worker had it. A store keeps such a run until the worker has said that the body stopped, which
-- removes the row, or until its lease would have run out: nothing else of the store may be claimed before. No foreign key: the task may be
-- deleted or retried meanwhile.

CREATE TABLE stopping_runs (
  task_id          bigint NOT NULL,
  fence            bigint NOT NULL,
  worker_id        text NOT NULL,
  dispensary_id    bigint,
  lease_expires_at timestamptz NOT NULL,
  cancelled_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (task_id, fence)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

CREATE INDEX stopping_runs_store ON stopping_runs (dispensary_id);
