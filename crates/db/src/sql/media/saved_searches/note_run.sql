-- media/saved_searches/note_run.sql: writes how a search ended. $1 id, $2 why it failed
UPDATE saved_searches
   SET last_error = $2, last_attempt_at = now(), updated_at = now(),
       last_run_at = CASE WHEN $2::text IS NULL THEN now() ELSE last_run_at END
 WHERE id = $1
