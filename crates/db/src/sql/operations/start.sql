-- $1 action, $2 change, $3 filter, $4 number of matching tasks, $5 who. Tasks that are made later are not
-- part of it.
INSERT INTO operations (action, change, filter, matched, created_by, below)
VALUES ($1, $2, $3, $4, $5, (SELECT coalesce(max(id), 0) + 1 FROM worker_tasks))
RETURNING id
