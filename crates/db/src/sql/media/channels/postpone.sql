-- media/channels/postpone.sql: puts a channel behind the others. $1 id
UPDATE watched_channels SET updated_at = now() WHERE id = $1
