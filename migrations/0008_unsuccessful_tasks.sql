-- What people look for first is rare among millions of completed tasks. Only an unsuccessful ending pays for the index.

CREATE INDEX worker_tasks_unsuccessful ON worker_tasks (id) WHERE status IN ('failed', 'cancelled');
