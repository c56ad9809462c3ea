-- hosts/rotating_values/keys.sql: the keys of platform $1 that were used or read, the last read one first.
SELECT value AS digest, sealed,
       coalesce(last_refusal_at > coalesce(last_success_at, '-infinity'), false) AS is_refused,
       json_time(last_success_at) AS last_success_at,
       json_time(last_refusal_at) AS last_refusal_at
  FROM rotating_values
 WHERE platform = $1
   AND name = 'key'
   AND endpoint = '%'
 ORDER BY added_at DESC, value
 LIMIT 20;
