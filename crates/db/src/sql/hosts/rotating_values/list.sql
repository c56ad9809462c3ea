-- hosts/rotating_values/list.sql: the stored hashes of a platform. $1 platform
SELECT name AS operation, value AS hash, endpoint AS host_pattern,
       json_time(added_at) AS added_at,
       json_time(first_success_at) AS first_ok,
       json_time(last_success_at) AS last_ok,
       json_time(last_refusal_at) AS last_not_found
  FROM rotating_values
 WHERE platform = $1
   AND name <> 'key'
 ORDER BY name, rotating_values.added_at DESC, value, endpoint <> '%', endpoint;
