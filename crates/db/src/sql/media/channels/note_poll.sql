-- media/channels/note_poll.sql: writes that a channel answered. $1 id, $2 etag, $3 last_modified
UPDATE watched_channels
   SET etag = $2, last_modified = $3, last_polled_at = now(), last_attempt_at = now(), last_error = NULL, updated_at = now()
 WHERE id = $1
