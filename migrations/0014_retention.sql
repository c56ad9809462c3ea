-- When old rows and files were last removed, and their number.
CREATE TABLE retention_runs (
  kind text PRIMARY KEY CHECK (kind IN ('ended_work', 'crawled_data')),
  ran_at timestamptz NOT NULL DEFAULT now(),
  removed bigint NOT NULL
);
