-- media/threads/to_read.sql: threads to read, the one that was tried longest ago first. $1 their ids, NULL: all that are
-- enabled. At most $2. $3 is_done: tried since, NULL: none is
SELECT id, forum_id, external_id, download, last_page, coalesce(last_attempt_at >= $3, false) AS is_done, last_error
  FROM watched_threads
 WHERE CASE WHEN $1::bigint[] IS NULL THEN enabled ELSE id = ANY ($1) END
 ORDER BY updated_at, id
 LIMIT $2
