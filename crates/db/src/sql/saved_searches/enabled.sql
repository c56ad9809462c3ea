-- saved_searches/enabled.sql: searches to run, the one that ran longest ago first. At most $1
SELECT id, query, extensions, min_bytes, download, last_run_at IS NOT NULL AS has_run
  FROM saved_searches
 WHERE enabled
 ORDER BY last_run_at NULLS FIRST, id
 LIMIT $1
