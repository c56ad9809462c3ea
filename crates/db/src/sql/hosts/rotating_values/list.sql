-- hosts/rotating_values/list.sql: the stored hashes of platform $1, or of all platforms.
SELECT platform, name AS operation, value AS hash, endpoint AS host_pattern,
       json_time(added_at) AS added_at,
       json_time(first_success_at) AS first_ok,
       json_time(last_success_at) AS last_ok,
       json_time(last_refusal_at) AS last_not_found
  FROM rotating_values
 WHERE ($1::text IS NULL OR platform = $1)
   AND name <> 'key'
 ORDER BY platform, name, rotating_values.added_at DESC, value, endpoint <> '%', endpoint;
