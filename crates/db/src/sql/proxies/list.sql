-- proxies/list.sql: proxies for display, without their passwords, and the facts that their health follows from.
-- $1 the only one, $2 ids above it; NULL filters nothing. At most $3. Times are cut to the range of Rust.
SELECT p.id, p.protocol, p.host, p.port, p.username,
       CASE WHEN p.password LIKE '$drover$1$%' THEN split_part(p.password, '$', 4) END AS key, p.is_active, p.state_code, p.timezone,
       json_time(p.last_used_at) AS last_used_at,
       p.success_count, p.failure_count, p.consecutive_403_count, p.consecutive_failure_count,
       p.recent_requests, p.recent_refused, p.recent_failed, p.avg_response_time_ms,
       json_time(p.last_failure_at) AS last_failure_at,
       p.last_error,
       json_time(p.cooldown_until) AS cooldown_until,
       NOT p.is_active AND p.cooldown_until IS NULL AS is_off,
       NOT p.is_active AND p.cooldown_until IS NOT NULL AS is_on_trial,
       (NOT p.is_active AND coalesce(p.cooldown_until > clock_timestamp(), false))
         OR EXISTS (SELECT FROM proxy_benches b WHERE b.proxy_id = p.id AND b.until > clock_timestamp() AND NOT b.is_best_effort) AS is_benched,
       json_time(p.created_at) AS created_at,
       json_time(p.updated_at) AS updated_at
  FROM proxies p
 WHERE (p.id = $1 OR $1 IS NULL)
   AND (p.id > $2 OR $2 IS NULL)
 ORDER BY p.id
 LIMIT $3;
