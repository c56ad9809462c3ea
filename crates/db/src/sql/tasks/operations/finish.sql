-- $1 operation, $2 reason of its failure; null: it is complete
UPDATE operations
   SET state = CASE WHEN $2::text IS NULL THEN 'completed' ELSE 'failed' END, error = $2, updated_at = now(), ended_at = now()
 WHERE id = $1
