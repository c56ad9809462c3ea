-- Shows when the demo runs a schedule next. $1 its name, $2 seconds until then
UPDATE task_schedules SET next_run_at = now() + make_interval(secs => $2), updated_at = now() WHERE name = $1
