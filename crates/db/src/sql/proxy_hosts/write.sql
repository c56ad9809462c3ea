-- proxy_hosts/write.sql: adds the requests of one process to those of the others. $1 proxies, $2 hosts, $3 whether only
-- requests that a crawl does without went there, $4 recent requests, $5 refused, $6 failed, $7 as many as count: earlier
-- ones give way (`RecentRequests` in domain). Proxies that are gone are skipped.
INSERT INTO proxy_hosts AS h (proxy_id, host, is_best_effort, recent_requests, recent_refused, recent_failed)
SELECT n.proxy_id, n.host, n.is_best_effort, n.requests, n.refused, n.failed
  FROM unnest($1::bigint[], $2::text[], $3::bool[], $4::float8[], $5::float8[], $6::float8[])
       AS n(proxy_id, host, is_best_effort, requests, refused, failed)
  JOIN proxies p ON p.id = n.proxy_id
 ORDER BY n.proxy_id, n.host       -- several processes write at once: in one order they never deadlock
    ON CONFLICT (proxy_id, host) DO UPDATE
   SET is_best_effort = h.is_best_effort AND excluded.is_best_effort,
       recent_requests = h.recent_requests * least(1, greatest(0, $7 - excluded.recent_requests) / nullif(h.recent_requests, 0)) + excluded.recent_requests,
       recent_refused = h.recent_refused * least(1, greatest(0, $7 - excluded.recent_requests) / nullif(h.recent_requests, 0)) + excluded.recent_refused,
       recent_failed = h.recent_failed * least(1, greatest(0, $7 - excluded.recent_requests) / nullif(h.recent_requests, 0)) + excluded.recent_failed,
       updated_at = now();
