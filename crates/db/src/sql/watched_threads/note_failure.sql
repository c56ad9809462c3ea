-- watched_threads/note_failure.sql: writes why a thread's reading failed. $1 id, $2 the reason
UPDATE watched_threads SET last_error = $2, updated_at = now() WHERE id = $1
