-- media/threads/note_read.sql: writes how far a thread was read. $1 id, $2 place of the page, $3 id of a post; ids grow
UPDATE watched_threads
   SET last_page = $2, last_post_id = greatest(last_post_id::bigint, $3)::text, last_error = NULL, updated_at = now()
 WHERE id = $1
