-- watched_channels/enabled.sql: channels to poll, the one that was tried longest ago first. At most $1
SELECT id, channel_id, download, etag, last_modified, last_polled_at IS NOT NULL AS was_polled
  FROM watched_channels
 WHERE enabled
 ORDER BY updated_at, id
 LIMIT $1
