-- Earlier runs of tasks by their end, for counts by minute. Only a run that does not end its task writes it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS past_attempts_finished ON past_attempts (finished_at)
