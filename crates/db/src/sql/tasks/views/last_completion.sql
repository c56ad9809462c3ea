-- The last completion of one of the roles $1. Planned for its values: rare roles use the index of roles,
-- others the index of ends.
SELECT t.id, json_time(t.completed_at) AS completed_at
  FROM worker_tasks t
 WHERE t.status IN ('completed', 'failed', 'cancelled') AND t.status = 'completed' AND t.role = ANY ($1)
 ORDER BY t.completed_at DESC
 LIMIT 1
