-- media/saved_searches/enabled.sql: searches to run, the one that was tried longest ago first. At most $1. $2 is_done: tried since, NULL: none is
SELECT id, query, extensions, min_bytes, download, last_run_at IS NOT NULL AS has_run,
       coalesce(last_attempt_at >= $2, false) AS is_done, last_error
  FROM saved_searches
 WHERE enabled
 ORDER BY updated_at, id
 LIMIT $1
