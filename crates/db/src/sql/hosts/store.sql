-- hosts/store.sql: stores the state $2 of the locked row of host $1.
UPDATE hosts h
   SET breaker = n.breaker, breaker_since = n.breaker_since, refuses_since = n.refuses_since, probe_at = n.probe_at,
       probe = n.probe, opens_in_a_row = n.opens_in_a_row, why = n.why,
       hold_until = n.hold_until, hold_status = n.hold_status, holds_in_a_row = n.holds_in_a_row,
       rate = n.rate, configured_rate = n.configured_rate, rate_changed_at = n.rate_changed_at, latency_ms = n.latency_ms,
       window_at = n.window_at, window_answers = n.window_answers, window_refusals = n.window_refusals,
       window_failures = n.window_failures, window_refused_since = n.window_refused_since,
       answers = n.answers, refusals = n.refusals, failures = n.failures, throttles = n.throttles, processes = n.processes
  FROM jsonb_populate_record(NULL::hosts, $2) n
 WHERE h.host = $1;
