-- hosts/rotating_values/candidates.sql: the hashes of a platform by operation, the most likely to work at an endpoint
-- first: the last accepted one, then untried ones, then the ones refused since by it or by every endpoint. $1
-- platform, $2 endpoint
SELECT known.name AS operation, known.value AS hash
  FROM rotating_values known
  LEFT JOIN rotating_values here
    ON here.platform = known.platform
   AND here.name = known.name
   AND here.value = known.value
   AND here.endpoint = $2
 WHERE known.platform = $1
   AND known.endpoint = '%'
   AND known.name <> 'key'
 ORDER BY known.name,
          coalesce(known.last_refusal_at > coalesce(known.last_success_at, '-infinity'), false)
          OR coalesce(here.last_refusal_at > coalesce(here.last_success_at, '-infinity'), false),
          greatest(known.last_success_at, here.last_success_at) DESC NULLS LAST,
          known.added_at DESC;
