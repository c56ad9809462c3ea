-- proxies/stored_passwords.sql: stored passwords of proxies, in their order.
SELECT p.id IS NOT NULL AS is_known, p.password
  FROM unnest($protocols::text[], $hosts::text[], $ports::int[], $usernames::text[]) WITH ORDINALITY AS e (protocol, host, port, username, nth)
  LEFT JOIN proxies p ON p.protocol = e.protocol AND p.host = e.host AND p.port = e.port
                     AND p.username IS NOT DISTINCT FROM e.username
 ORDER BY e.nth;
