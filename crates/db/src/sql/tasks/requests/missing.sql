-- The tasks of $1 that do not exist.
SELECT asked.id FROM unnest($1::bigint[]) AS asked(id) WHERE NOT EXISTS (SELECT FROM worker_tasks t WHERE t.id = asked.id)
