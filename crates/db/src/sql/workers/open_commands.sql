-- Open commands, oldest first; a command that was not taken within a day is void. $1 the workers of this
-- process, $2 when it started
SELECT id, worker_id, command FROM worker_commands
 WHERE taken_at IS NULL AND worker_id = ANY ($1) AND created_at > greatest($2, now() - interval '1 day') ORDER BY id LIMIT 100
