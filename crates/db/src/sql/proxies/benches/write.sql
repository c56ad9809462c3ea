-- proxies/benches/write.sql: benches of proxies at hosts, for $cooldowns in seconds. $is_best_effort: whether only requests that a crawl does
-- without led to them. The longest of several processes' counts. Proxies that are gone are skipped.
INSERT INTO proxy_benches AS b (proxy_id, host, until, reason, is_best_effort)
SELECT n.proxy_id, n.host, clock_timestamp() + make_interval(secs => n.cooldown), n.reason, n.is_best_effort
  FROM unnest($proxies::bigint[], $hosts::text[], $cooldowns::float8[], $reasons::text[], $is_best_effort::bool[])
       AS n(proxy_id, host, cooldown, reason, is_best_effort)
  JOIN proxies p ON p.id = n.proxy_id
 ORDER BY n.proxy_id, n.host       -- several processes write at once: in one order they never deadlock
    ON CONFLICT (proxy_id, host) DO UPDATE SET until = excluded.until, reason = excluded.reason, is_best_effort = excluded.is_best_effort
    WHERE b.until < excluded.until;
