-- The last $2 completions of the roles $1, latest first. Planned for its values, as last_completion.sql.
SELECT t.id
  FROM worker_tasks t
 WHERE t.status IN ('completed', 'failed', 'cancelled') AND t.status = 'completed' AND t.role = ANY ($1)
 ORDER BY t.completed_at DESC
 LIMIT $2
