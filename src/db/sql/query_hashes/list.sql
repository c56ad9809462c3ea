-- query_hashes/list.sql: the hashes of a platform by operation, the most likely to work first. $1 platform
SELECT operation, hash, host_pattern
  FROM query_hashes
 WHERE platform = $1
 ORDER BY operation, (last_not_found IS NOT NULL AND last_not_found > coalesce(last_ok, '-infinity')), last_ok DESC NULLS LAST, added_at DESC;
