-- proxies/count.sql: the facts that each proxy's health follows from, of those whose protocol the program speaks.
SELECT p.id, p.consecutive_403_count, p.consecutive_failure_count, p.recent_requests, p.recent_refused, p.recent_failed,
       NOT p.is_active AND p.cooldown_until IS NULL AS is_off,
       NOT p.is_active AND p.cooldown_until IS NOT NULL AS is_on_trial,
       (NOT p.is_active AND coalesce(p.cooldown_until > clock_timestamp(), false))
         OR EXISTS (SELECT FROM proxy_benches b WHERE b.proxy_id = p.id AND b.until > clock_timestamp() AND NOT b.is_best_effort) AS is_benched
  FROM proxies p
 WHERE p.protocol IN ('http', 'https', 'socks5');
