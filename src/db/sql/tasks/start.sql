-- A claimed task begins. $1 id, $2 fence, $3 worker
UPDATE worker_tasks
   SET status = 'running', started_at = clock_timestamp(), updated_at = clock_timestamp()
 WHERE id = $1 AND fence = $2 AND worker_id = $3 AND status = 'claimed'
