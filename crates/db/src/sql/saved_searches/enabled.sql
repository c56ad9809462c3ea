-- saved_searches/enabled.sql: searches to run, the one that was tried longest ago first. At most $1
SELECT id, query, extensions, min_bytes, download, last_run_at IS NOT NULL AS has_run
  FROM saved_searches
 WHERE enabled
 ORDER BY updated_at, id
 LIMIT $1
