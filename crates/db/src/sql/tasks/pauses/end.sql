-- Ends the pause with this id and returns it.
SELECT id, scope, nullif(target, '') AS target, reason, json_time(until) AS until, json_time(created_at) AS created_at, created_by FROM end_pause($1)
