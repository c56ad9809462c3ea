-- proxies/load.sql: every proxy the program can speak to, with its password, as the pool of a process wants it.
SELECT id, protocol, host, port, username, password, state_code, timezone, is_active, cooldown_until,
       greatest(extract(epoch FROM cooldown_until - clock_timestamp()), 0)::float8 AS cooldown_left_s,
       greatest(extract(epoch FROM clock_timestamp() - last_used_at), 0)::float8 AS idle_s,
       success_count, failure_count, consecutive_403_count, avg_response_time_ms, last_error
  FROM proxies
 WHERE protocol IN ('http', 'socks5')
 ORDER BY id;
