-- The latest run, where it was made within 10 s. $1 schedule
SELECT due_at, task_count
  FROM schedule_runs
 WHERE schedule_id = $1 AND created_at > now() - interval '10 seconds'
 ORDER BY created_at DESC
 LIMIT 1
