-- media/threads/postpone.sql: puts a thread behind the others. $1 id
UPDATE watched_threads SET updated_at = now() WHERE id = $1
