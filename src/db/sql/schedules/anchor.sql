-- Where the grid of a schedule's hours begins, and the database's time; both are now where there is no schedule $1.
SELECT json_time(coalesce((SELECT least(created_at, now()) FROM task_schedules WHERE name = $1), now())) AS created_at, now() AS now
