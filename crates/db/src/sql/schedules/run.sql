-- schedules/run.sql: makes the tasks of a schedule that is due.
SELECT made AS task_count, skipped FROM run_schedule($id, $role, $per_store, $next);
