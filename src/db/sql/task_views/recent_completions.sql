-- The last $2 completions of the roles $1, latest first.
SELECT id
  FROM worker_tasks
 WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'completed' AND role = ANY ($1)
 ORDER BY completed_at DESC, id DESC
 LIMIT $2
