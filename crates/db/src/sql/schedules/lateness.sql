-- Seconds since the schedule that waits longest for its run was due; 0 when none is due.
SELECT coalesce(greatest(extract(epoch FROM now() - min(json_time(next_run_at))), 0), 0)::double precision AS seconds
  FROM task_schedules
 WHERE enabled
