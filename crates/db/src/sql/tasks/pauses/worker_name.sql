-- The friendly name of the worker with this id or friendly name.
SELECT friendly_name FROM worker_registry WHERE worker_id = $1 OR friendly_name = $1 ORDER BY worker_id = $1 DESC LIMIT 1
