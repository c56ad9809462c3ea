-- people/note_sync.sql: writes how a person's sync ended. $1 id, $2 why it failed
UPDATE people SET last_error = $2, last_attempt_at = now(), updated_at = now() WHERE id = $1
