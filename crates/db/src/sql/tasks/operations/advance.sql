-- Moves an operation on. $below: the least id of the batch. $failures: ids and reasons, of which at most $max
-- are kept
UPDATE operations
   SET below = $below, done = done + $done, failed = failed + $failed, updated_at = now(),
       failures = (SELECT coalesce(jsonb_agg(f.failure), '[]')
                     FROM (SELECT e.value AS failure FROM jsonb_array_elements(failures || $failures::jsonb) WITH ORDINALITY AS e(value, ord)
                            ORDER BY e.ord LIMIT $max) f)
 WHERE id = $id
