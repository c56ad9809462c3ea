-- proxy_benches/write.sql: benches of the proxies $1 at the hosts $2 for $3 seconds, with the reasons $4. The longest of
-- several processes' counts. Proxies that are gone are skipped.
INSERT INTO proxy_benches AS b (proxy_id, host, until, reason)
SELECT n.proxy_id, n.host, clock_timestamp() + make_interval(secs => n.cooldown), n.reason
  FROM unnest($1::bigint[], $2::text[], $3::float8[], $4::text[]) AS n(proxy_id, host, cooldown, reason)
  JOIN proxies p ON p.id = n.proxy_id
 ORDER BY n.proxy_id, n.host       -- several processes write at once: in one order they never deadlock
    ON CONFLICT (proxy_id, host) DO UPDATE SET until = excluded.until, reason = excluded.reason
    WHERE b.until < excluded.until;
