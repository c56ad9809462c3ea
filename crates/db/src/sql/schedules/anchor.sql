-- The beginning of the grid of a schedule's hours, and the database's time; both are now when $1 is null.
SELECT json_time(coalesce((SELECT least(created_at, now()) FROM task_schedules WHERE id = $1), now())) AS created_at, now() AS now
