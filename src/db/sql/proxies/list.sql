-- proxies/list.sql: every proxy as people see it: without its password. Times are cut to what Rust can read.
SELECT id, protocol, host, port, username, is_active, state_code, timezone,
       CASE WHEN last_used_at IS NOT NULL THEN least(greatest(last_used_at, 'epoch'), '9999-12-31') END AS last_used_at,
       success_count, failure_count, consecutive_403_count, avg_response_time_ms,
       CASE WHEN last_failure_at IS NOT NULL THEN least(greatest(last_failure_at, 'epoch'), '9999-12-31') END AS last_failure_at,
       last_error,
       CASE WHEN cooldown_until IS NOT NULL THEN least(greatest(cooldown_until, 'epoch'), '9999-12-31') END AS cooldown_until,
       CASE WHEN created_at IS NOT NULL THEN least(greatest(created_at, 'epoch'), '9999-12-31') END AS created_at,
       CASE WHEN updated_at IS NOT NULL THEN least(greatest(updated_at, 'epoch'), '9999-12-31') END AS updated_at,
       CASE
         WHEN is_active THEN 'active'
         WHEN cooldown_until IS NOT NULL THEN 'benched'
         ELSE 'off'
       END AS state
  FROM proxies
 ORDER BY id;
