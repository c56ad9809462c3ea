-- The latest $2 runs of task $1, newest first.
SELECT a.fence, a.worker_id, coalesce(w.friendly_name, n.friendly_name) AS worker_name, a.outcome, a.error,
       json_time(a.claimed_at) AS claimed_at, json_time(a.finished_at) AS finished_at, a.detail
  FROM task_attempts a LEFT JOIN worker_registry w USING (worker_id) LEFT JOIN worker_names n USING (worker_id)
 WHERE a.task_id = $1
 ORDER BY a.fence DESC
 LIMIT $2
