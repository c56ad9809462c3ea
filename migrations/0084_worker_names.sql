-- The names of workers that have left the registry: tasks and their runs name workers for longer.
CREATE TABLE worker_names (
  worker_id text PRIMARY KEY,
  friendly_name text NOT NULL,
  left_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX worker_names_left ON worker_names (left_at);
