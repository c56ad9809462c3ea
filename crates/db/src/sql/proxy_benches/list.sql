-- proxy_benches/list.sql: benches of the proxies $1 that have time left, everywhere (no host) and at single hosts.
SELECT p.id AS proxy_id, NULL AS host, json_time(p.cooldown_until) AS until, p.last_error AS reason
  FROM proxies p
 WHERE p.id = ANY ($1::bigint[]) AND NOT p.is_active AND p.cooldown_until > clock_timestamp()
UNION ALL
SELECT b.proxy_id, b.host, json_time(b.until), b.reason
  FROM proxy_benches b
 WHERE b.proxy_id = ANY ($1::bigint[]) AND b.until > clock_timestamp()
 ORDER BY proxy_id, host NULLS FIRST;
