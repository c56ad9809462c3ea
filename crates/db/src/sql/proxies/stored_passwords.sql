-- proxies/stored_passwords.sql: stored passwords of the proxies of protocols $1, hosts $2, ports $3,
-- usernames $4, in their order.
SELECT p.id IS NOT NULL AS is_known, p.password
  FROM unnest($1::text[], $2::text[], $3::int[], $4::text[]) WITH ORDINALITY AS e (protocol, host, port, username, nth)
  LEFT JOIN proxies p ON p.protocol = e.protocol AND p.host = e.host AND p.port = e.port
                     AND p.username IS NOT DISTINCT FROM e.username
 ORDER BY e.nth;
