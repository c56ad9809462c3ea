-- proxies/flush.sql: adds the counts of one process to those of the others. $1 ids, $2 used, $3 successes, $4
-- failures, $5 whether blocks count from zero, $6 blocks, $7 decay and $8 addend of the average (`Latency` in
-- domain/proxy/counters.rs), $9 last errors, $10 changes (benched, revived or null), $11 seconds of cooldown, $12
-- whether requests without an answer count from zero, $13 their number, $14 recent requests, $15 refused, $16
-- failed, $17 as many recent requests as count: earlier ones give way (`RecentRequests` in domain).
WITH held AS (
  SELECT id FROM proxies WHERE id = ANY ($1::bigint[])
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
       recent_requests = p.recent_requests * least(1, greatest(0, $17 - n.recent_requests) / nullif(p.recent_requests, 0)) + n.recent_requests,
       recent_refused = p.recent_refused * least(1, greatest(0, $17 - n.recent_requests) / nullif(p.recent_requests, 0)) + n.recent_refused,
       recent_failed = p.recent_failed * least(1, greatest(0, $17 - n.recent_requests) / nullif(p.recent_requests, 0)) + n.recent_failed,
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
  JOIN unnest($1::bigint[], $2::bool[], $3::bigint[], $4::bigint[], $5::bool[], $6::bigint[], $7::float8[], $8::float8[], $9::text[],
              $10::text[], $11::float8[], $12::bool[], $13::bigint[], $14::float8[], $15::float8[], $16::float8[])
       AS n (id, used, successes, failures, blocks_reset, blocks, decay, addend, last_error, change, cooldown, unanswered_reset,
             unanswered, recent_requests, recent_refused, recent_failed) USING (id)
 WHERE p.id = held.id;
