-- proxies/benches/load.sql: benches at single hosts that have time left, with the seconds of it.
SELECT proxy_id, host, extract(epoch FROM until - clock_timestamp())::float8 AS left_s, is_best_effort
  FROM proxy_benches
 WHERE until > clock_timestamp();
