-- The last completion of one of the roles $1.
SELECT id, json_time(completed_at) AS completed_at
  FROM worker_tasks
 WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'completed' AND role = ANY ($1)
 ORDER BY completed_at DESC, id DESC
 LIMIT 1
