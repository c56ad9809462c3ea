-- proxies/list.sql: every proxy as people see it: without its password. Times are cut to what Rust can read.
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
 ORDER BY id;
