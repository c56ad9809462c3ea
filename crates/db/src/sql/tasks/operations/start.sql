-- Tasks that are made later are not part of it.
INSERT INTO operations (action, change, filter, matched, created_by, below)
VALUES ($action, $change, $filter, $matched, $created_by, (SELECT coalesce(max(id), 0) + 1 FROM worker_tasks))
RETURNING id
