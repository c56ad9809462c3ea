-- proxies/remove.sql: $1 id.
DELETE FROM proxies WHERE id = $1;
