-- proxies/benches/list.sql: benches of the proxies $1 that have time left, everywhere (no host) and at single hosts.
SELECT p.id AS proxy_id, NULL AS host, json_time(p.cooldown_until) AS until, p.last_error AS reason
  FROM proxies p
 WHERE p.id = ANY ($1::bigint[]) AND NOT p.is_active AND p.cooldown_until > clock_timestamp()
UNION ALL
SELECT b.proxy_id, b.host, json_time(b.until), b.reason
  FROM proxy_benches b
  JOIN proxies p ON p.id = b.proxy_id
   -- a process that does not know yet that the proxy is off may still write its benches
 WHERE b.proxy_id = ANY ($1::bigint[]) AND b.until > clock_timestamp() AND (p.is_active OR p.cooldown_until IS NOT NULL)
 ORDER BY proxy_id, host NULLS FIRST;
