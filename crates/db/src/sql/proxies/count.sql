-- proxies/count.sql: how many proxies the program can speak to are active, benched, off.
SELECT count(*) FILTER (WHERE is_active) AS active,
       count(*) FILTER (WHERE NOT is_active AND cooldown_until IS NOT NULL) AS benched,
       count(*) FILTER (WHERE NOT is_active AND cooldown_until IS NULL) AS off
  FROM proxies
 WHERE protocol IN ('http', 'https', 'socks5');
