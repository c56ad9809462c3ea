-- proxies/count.sql: numbers of active, benched and switched-off proxies whose protocol the program speaks.
SELECT count(*) FILTER (WHERE is_active) AS active,
       count(*) FILTER (WHERE NOT is_active AND cooldown_until IS NOT NULL) AS benched,
       count(*) FILTER (WHERE NOT is_active AND cooldown_until IS NULL) AS off
  FROM proxies
 WHERE protocol IN ('http', 'https', 'socks5');
