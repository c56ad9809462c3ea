-- Runs that ended, by minute: counted from their rows by one process at a time, so that nobody counts in the hot table for a chart. What
-- is counted stays when tasks are pruned.

CREATE TABLE stats_minute (
  minute       timestamptz NOT NULL,
  role         text NOT NULL,
  outcome      text NOT NULL,
  tasks        bigint NOT NULL,             -- runs that ended so, and tasks that were cancelled before any
  waits        bigint NOT NULL,             -- of these, the runs that were the first of their task and its last
  wait_seconds double precision NOT NULL,   -- theirs together, from when the task was due until it was claimed
  runs         bigint NOT NULL,
  run_seconds  double precision NOT NULL,
  products     bigint NOT NULL,             -- in the menus that were refreshed
  PRIMARY KEY (minute, role, outcome)
);

-- Minutes before `closed_until` are counted for good; later ones are counted again at each turn.
CREATE TABLE stats_progress (
  id           boolean PRIMARY KEY DEFAULT true CHECK (id),
  closed_until timestamptz NOT NULL CHECK (isfinite(closed_until))
);
