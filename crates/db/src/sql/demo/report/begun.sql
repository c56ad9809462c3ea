-- demo/report/begun.sql: when a schedule made the tasks of one due time. $1 schedule's name, $2 due time
SELECT r.created_at FROM schedule_runs r JOIN task_schedules s ON s.id = r.schedule_id WHERE s.name = $1 AND r.due_at = $2
