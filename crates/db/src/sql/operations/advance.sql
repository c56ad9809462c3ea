-- Moves an operation on. $1 operation, $2 the least id of the batch, $3 changed, $4 refused, $5 their ids and
-- reasons, $6 maximum number of kept ones
UPDATE operations
   SET below = $2, done = done + $3, failed = failed + $4, updated_at = now(),
       failures = (SELECT coalesce(jsonb_agg(f.failure), '[]')
                     FROM (SELECT e.value AS failure FROM jsonb_array_elements(failures || $5::jsonb) WITH ORDINALITY AS e(value, ord)
                            ORDER BY e.ord LIMIT $6) f)
 WHERE id = $1
