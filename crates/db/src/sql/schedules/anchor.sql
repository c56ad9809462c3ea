-- Where the grid of a schedule's hours begins, and the database's time; both are now where $1 is null.
SELECT json_time(coalesce((SELECT least(created_at, now()) FROM task_schedules WHERE id = $1), now())) AS created_at, now() AS now
