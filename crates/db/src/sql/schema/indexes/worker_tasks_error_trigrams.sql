-- Parts of errors' texts. Each search reads the pending list of entries not sorted in yet, which is sorted in
-- by the one task that finds the list full: short
CREATE INDEX CONCURRENTLY IF NOT EXISTS worker_tasks_error_trigrams ON worker_tasks USING gin (lower(error_message) gin_trgm_ops)
  WITH (gin_pending_list_limit = 256) WHERE error_message IS NOT NULL
