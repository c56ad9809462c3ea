-- watched_threads/to_read.sql: threads to read, the one that was tried longest ago first. $1 their ids, NULL: all that are
-- enabled. At most $2
SELECT id, forum_id, external_id, download, last_page
  FROM watched_threads
 WHERE CASE WHEN $1::bigint[] IS NULL THEN enabled ELSE id = ANY ($1) END
 ORDER BY updated_at, id
 LIMIT $2
