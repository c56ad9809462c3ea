-- The latest run, if it was made within 10 s. $1 schedule
SELECT json_time(due_at) AS due_at, task_count, skipped
  FROM schedule_runs
 WHERE schedule_id = $1
   AND created_at > now() - interval '10 seconds'
   AND created_at <= clock_timestamp()      -- one from the future would be the latest until then
 ORDER BY created_at DESC
 LIMIT 1
