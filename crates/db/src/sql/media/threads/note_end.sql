-- media/threads/note_end.sql: writes how a thread's reading ended; how far it came stays. $1 id, $2 why it failed
UPDATE watched_threads SET last_error = $2, last_attempt_at = now(), updated_at = now() WHERE id = $1
