-- schedules/run_now.sql: tasks of a schedule that wait come as early as one that a person made. $1 schedule, $2 least priority
UPDATE worker_tasks
   SET priority = $2, updated_at = now()
 WHERE schedule_id = $1 AND status = 'pending' AND priority < $2
