-- proxies/next_passwords.sql: at most $2 proxies after $1 that have a password.
SELECT id, host, port, username, password
  FROM proxies
 WHERE id > $1 AND password IS NOT NULL
 ORDER BY id
 LIMIT $2;
