-- The oldest of the $2 newest tasks with an error, ids below $1. None where there are fewer, or where no
-- trigrams find the others.
SELECT t.id
  FROM worker_tasks t
 WHERE t.error_message IS NOT NULL AND t.id < coalesce($1, 9223372036854775807)
   AND EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = to_regclass('worker_tasks_error_trigrams') AND i.indisvalid)
 ORDER BY t.id DESC
OFFSET $2::bigint - 1 LIMIT 1
