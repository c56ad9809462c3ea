-- hosts/rotating_values/operations.sql: how the hashes of each operation of platform $1 fared.
SELECT name AS operation, count(DISTINCT value) AS hashes,
       json_time(max(last_success_at)) AS last_success_at,
       json_time(max(last_refusal_at)) AS last_refusal_at
  FROM rotating_values
 WHERE platform = $1
   AND name <> 'key'
 GROUP BY name
 ORDER BY name;
