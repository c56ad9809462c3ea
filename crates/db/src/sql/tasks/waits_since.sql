-- tasks/waits_since.sql: when the run began that was the first to end with a wait; NULL: the task has not waited. $1 id
SELECT max(a.claimed_at)
  FROM worker_tasks t
  JOIN past_attempts a ON a.task_id = t.id AND a.claimed_at < t.snoozed_since
 WHERE t.id = $1
