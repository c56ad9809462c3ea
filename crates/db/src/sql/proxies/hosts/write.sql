-- proxies/hosts/write.sql: adds the requests of one process to those of the others. $is_best_effort: whether only requests
-- that a crawl does without went there. $requests, $refused, $failed: recent ones, of which $max_requests count: earlier
-- ones give way (`RecentRequests` in domain). Proxies that are gone are skipped.
INSERT INTO proxy_hosts AS h (proxy_id, host, is_best_effort, recent_requests, recent_refused, recent_failed)
SELECT n.proxy_id, n.host, n.is_best_effort, n.requests, n.refused, n.failed
  FROM unnest($proxies::bigint[], $hosts::text[], $is_best_effort::bool[], $requests::float8[], $refused::float8[], $failed::float8[])
       AS n(proxy_id, host, is_best_effort, requests, refused, failed)
  JOIN proxies p ON p.id = n.proxy_id
 ORDER BY n.proxy_id, n.host       -- several processes write at once: in one order they never deadlock
    ON CONFLICT (proxy_id, host) DO UPDATE
   SET is_best_effort = h.is_best_effort AND excluded.is_best_effort,
       recent_requests = h.recent_requests * least(1, greatest(0, $max_requests - excluded.recent_requests) / nullif(h.recent_requests, 0)) + excluded.recent_requests,
       recent_refused = h.recent_refused * least(1, greatest(0, $max_requests - excluded.recent_requests) / nullif(h.recent_requests, 0)) + excluded.recent_refused,
       recent_failed = h.recent_failed * least(1, greatest(0, $max_requests - excluded.recent_requests) / nullif(h.recent_requests, 0)) + excluded.recent_failed,
       updated_at = now();
