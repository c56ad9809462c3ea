-- media/channels/enabled.sql: channels to poll, the one that was tried longest ago first. At most $1. $2 is_done: tried since, NULL:
-- none is
SELECT id, channel_id, download, etag, last_modified, last_polled_at IS NOT NULL AS was_polled,
       coalesce(last_attempt_at >= $2, false) AS is_done, last_error
  FROM watched_channels
 WHERE enabled
 ORDER BY updated_at, id
 LIMIT $1
