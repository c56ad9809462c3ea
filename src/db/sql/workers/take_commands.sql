-- $1 the workers of this process
UPDATE worker_commands c SET taken_at = now()
  FROM (SELECT id FROM worker_commands WHERE taken_at IS NULL AND worker_id = ANY ($1) ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED) open
 WHERE c.id = open.id RETURNING c.id, c.worker_id, c.command
