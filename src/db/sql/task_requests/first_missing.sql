-- The first of the tasks $1 that does not exist.
SELECT asked.id FROM unnest($1::bigint[]) AS asked(id)
 WHERE NOT EXISTS (SELECT 1 FROM worker_tasks t WHERE t.id = asked.id) ORDER BY 1 LIMIT 1
