-- proxies/list.sql: proxies for display, without their passwords. $1 the only one, $2 a state, $3 ids above
-- it; NULL filters nothing. At most $4. Times are cut to the range of Rust.
SELECT id, protocol, host, port, username,
       CASE WHEN password LIKE '$drover$1$%' THEN split_part(password, '$', 4) END AS key, is_active, state_code, timezone,
       json_time(last_used_at) AS last_used_at,
       success_count, failure_count, consecutive_403_count, avg_response_time_ms,
       json_time(last_failure_at) AS last_failure_at,
       last_error,
       json_time(cooldown_until) AS cooldown_until,
       json_time(created_at) AS created_at,
       json_time(updated_at) AS updated_at
  FROM proxies
 WHERE (id = $1 OR $1 IS NULL)
   AND (id > $3 OR $3 IS NULL)
   AND CASE $2::text WHEN 'active' THEN is_active
                     WHEN 'benched' THEN NOT is_active AND cooldown_until IS NOT NULL
                     WHEN 'off' THEN NOT is_active AND cooldown_until IS NULL
                     ELSE true END
 ORDER BY id
 LIMIT $4;
