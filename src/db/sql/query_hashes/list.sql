-- query_hashes/list.sql: what is known of a platform's hashes. $1 platform
SELECT operation, hash, host_pattern, added_at, first_ok, last_ok, last_not_found
  FROM query_hashes
 WHERE platform = $1
 ORDER BY operation, added_at DESC, hash, host_pattern <> '%', host_pattern;
