-- tasks/jobs/worker_is_healthy.sql: whether a live worker claims media roles.
SELECT EXISTS (SELECT FROM worker_registry WHERE status IN ('active', 'backing_off') AND roles && roles_of('{media}'))
