-- Deletes runs older than a month.
DELETE FROM schedule_runs WHERE created_at < now() - interval '30 days'
