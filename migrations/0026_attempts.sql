-- When what media jobs watch was last tried, well or not; a wait for its host is no try. A job that has waited leaves out what it has
-- tried already. Null: not since this column is here.

ALTER TABLE watched_channels ADD COLUMN last_attempt_at timestamptz;
ALTER TABLE watched_threads ADD COLUMN last_attempt_at timestamptz;
ALTER TABLE saved_searches ADD COLUMN last_attempt_at timestamptz;
ALTER TABLE people ADD COLUMN last_attempt_at timestamptz;
