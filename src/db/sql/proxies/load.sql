-- proxies/load.sql: every proxy that the program can speak to, with its password, for the pool of a process.
-- Times that a person wrote by hand may be infinite, which cannot be subtracted, or beyond what Rust can read.
SELECT id, protocol, host, port, username, password, state_code, timezone, is_active,
       CASE WHEN cooldown_until IS NOT NULL THEN least(greatest(cooldown_until, 'epoch'), '9999-12-31') END AS cooldown_until,
       greatest(extract(epoch FROM CASE WHEN cooldown_until IS NOT NULL THEN least(greatest(cooldown_until, 'epoch'), '9999-12-31') END - clock_timestamp()), 0)::float8 AS cooldown_left_s,
       greatest(extract(epoch FROM clock_timestamp() - CASE WHEN last_used_at IS NOT NULL THEN least(greatest(last_used_at, 'epoch'), '9999-12-31') END), 0)::float8 AS idle_s,
       success_count, failure_count, consecutive_403_count, avg_response_time_ms, last_error
  FROM proxies
 WHERE protocol IN ('http', 'socks5')
 ORDER BY id;
