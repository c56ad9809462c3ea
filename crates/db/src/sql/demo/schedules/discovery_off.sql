-- Switches the search for new stores off: the demo has all stores of its site.
UPDATE task_schedules SET enabled = false, updated_at = now() WHERE role = 'store_discovery' AND last_run_at IS NULL
