-- proxies/list.sql: every proxy as people see it: without its password.
SELECT id, protocol, host, port, username, is_active, state_code, timezone, last_used_at, success_count, failure_count,
       consecutive_403_count, avg_response_time_ms, last_failure_at, last_error, cooldown_until, created_at, updated_at,
       CASE WHEN is_active THEN 'active' WHEN cooldown_until IS NOT NULL THEN 'benched' ELSE 'off' END AS state
  FROM proxies
 ORDER BY id;
