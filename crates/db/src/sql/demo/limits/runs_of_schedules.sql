-- demo/limits/runs_of_schedules.sql: deletes the runs of schedules from before yesterday
DELETE FROM schedule_runs WHERE created_at < now() - interval '1 day'
