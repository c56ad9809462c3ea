-- The latest $2 runs of task $1, newest first.
SELECT fence, worker_id, outcome, error, json_time(claimed_at) AS claimed_at, json_time(finished_at) AS finished_at, detail
  FROM task_attempts
 WHERE task_id = $1
 ORDER BY fence DESC
 LIMIT $2
