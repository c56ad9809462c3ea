-- media/channels/note_failure.sql: writes why a poll failed. $1 id, $2 the reason
UPDATE watched_channels SET last_error = $2, last_attempt_at = now(), updated_at = now() WHERE id = $1
