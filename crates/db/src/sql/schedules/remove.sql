DELETE FROM task_schedules WHERE id = $1
