-- proxies/flush.sql: adds the counts of one process to those of the others. $blocks_reset and $unanswered_reset: whether
-- these count from zero. $decay and $addend of the average: `Latency` in domain/proxy/counters.rs. $changes: benched,
-- revived or null. $cooldowns: seconds. $requests, $refused, $failed: recent ones, of which $max_requests count: earlier
-- ones give way (`RecentRequests` in domain).
WITH held AS (
  SELECT id FROM proxies WHERE id = ANY ($ids::bigint[])
   -- several processes flush at once: in one order they wait for each other and never deadlock
   ORDER BY id
     FOR NO KEY UPDATE
)
UPDATE proxies p
   SET last_used_at = CASE WHEN n.used THEN now() ELSE p.last_used_at END,
       success_count = p.success_count + n.successes,
       failure_count = p.failure_count + n.failures,
       consecutive_403_count = n.blocks + CASE WHEN n.blocks_reset THEN 0 ELSE p.consecutive_403_count END,
       consecutive_failure_count = n.unanswered + CASE WHEN n.unanswered_reset THEN 0 ELSE p.consecutive_failure_count END,
       recent_requests = p.recent_requests * least(1, greatest(0, $max_requests - n.recent_requests) / nullif(p.recent_requests, 0)) + n.recent_requests,
       recent_refused = p.recent_refused * least(1, greatest(0, $max_requests - n.recent_requests) / nullif(p.recent_requests, 0)) + n.recent_refused,
       recent_failed = p.recent_failed * least(1, greatest(0, $max_requests - n.recent_requests) / nullif(p.recent_requests, 0)) + n.recent_failed,
       avg_response_time_ms = CASE WHEN n.decay < 1
                                   THEN coalesce(p.avg_response_time_ms * n.decay + n.addend, n.addend / (1 - n.decay))
                                   ELSE p.avg_response_time_ms END,
       last_failure_at = CASE WHEN n.last_error IS NULL THEN p.last_failure_at ELSE now() END,
       last_error = coalesce(n.last_error, p.last_error),
       -- off (not active, no cooldown) is the operator's decision: neither change affects it
       is_active = CASE n.change WHEN 'benched' THEN false
                                 WHEN 'revived' THEN p.is_active OR p.cooldown_until IS NOT NULL
                                 ELSE p.is_active END,
       cooldown_until = CASE WHEN n.change = 'revived' THEN NULL
                             WHEN n.change = 'benched' AND (p.is_active OR p.cooldown_until IS NOT NULL)
                             THEN greatest(p.cooldown_until, clock_timestamp() + make_interval(secs => n.cooldown))
                             ELSE p.cooldown_until END,
       updated_at = now()
  FROM held
  JOIN unnest($ids::bigint[], $used::bool[], $successes::bigint[], $failures::bigint[], $blocks_reset::bool[],
              $blocks::bigint[], $decay::float8[], $addend::float8[], $last_errors::text[], $changes::text[],
              $cooldowns::float8[], $unanswered_reset::bool[], $unanswered::bigint[], $requests::float8[],
              $refused::float8[], $failed::float8[])
       AS n (id, used, successes, failures, blocks_reset, blocks, decay, addend, last_error, change, cooldown, unanswered_reset,
             unanswered, recent_requests, recent_refused, recent_failed) USING (id)
 WHERE p.id = held.id;
