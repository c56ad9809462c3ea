-- hosts/query_hashes/candidates.sql: the hashes of a platform by operation, the most likely to work at an endpoint
-- first: the last accepted one, then untried ones, then the ones refused since by it or by every endpoint. $1
-- platform, $2 endpoint
SELECT known.operation, known.hash
  FROM query_hashes known
  LEFT JOIN query_hashes here
    ON here.platform = known.platform
   AND here.operation = known.operation
   AND here.hash = known.hash
   AND here.host_pattern = $2
 WHERE known.platform = $1
   AND known.host_pattern = '%'
 ORDER BY known.operation,
          coalesce(known.last_not_found > coalesce(known.last_ok, '-infinity'), false)
          OR coalesce(here.last_not_found > coalesce(here.last_ok, '-infinity'), false),
          greatest(known.last_ok, here.last_ok) DESC NULLS LAST,
          known.added_at DESC;
