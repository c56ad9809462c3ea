-- hosts/query_hashes/list.sql: the stored hashes of a platform. $1 platform
SELECT operation, hash, host_pattern,
       json_time(added_at) AS added_at,
       json_time(first_ok) AS first_ok,
       json_time(last_ok) AS last_ok,
       json_time(last_not_found) AS last_not_found
  FROM query_hashes
 WHERE platform = $1
 ORDER BY operation, query_hashes.added_at DESC, hash, host_pattern <> '%', host_pattern;
