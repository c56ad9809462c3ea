-- proxies/load.sql: every proxy whose protocol the program speaks, with its password, for the pool of a
-- process. Times written by hand may be infinite, which cannot be subtracted, or outside the range of Rust.
SELECT id, protocol, host, port, username, password, state_code, timezone, is_active,
       json_time(cooldown_until) AS cooldown_until,
       greatest(extract(epoch FROM json_time(cooldown_until) - clock_timestamp()), 0)::float8 AS cooldown_left_s,
       CASE WHEN last_used_at IS NOT NULL
            THEN greatest(extract(epoch FROM clock_timestamp() - json_time(last_used_at)), 0)::float8 END AS idle_s,
       success_count, failure_count, consecutive_403_count, consecutive_failure_count,
       recent_requests, recent_refused, recent_failed, avg_response_time_ms, last_error
  FROM proxies
 WHERE protocol IN ('http', 'https', 'socks5')
 ORDER BY id;
