-- $1 name
DELETE FROM task_schedules WHERE name = $1
