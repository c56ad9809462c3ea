-- people/enabled.sql: people whose credits are read, the one that was tried longest ago first. At most $1. $2 is_done: tried since, NULL:
-- none is
SELECT id, tmdb_id, coalesce(last_attempt_at >= $2, false) AS is_done, last_error
  FROM people
 WHERE enabled
 ORDER BY updated_at, id
 LIMIT $1
