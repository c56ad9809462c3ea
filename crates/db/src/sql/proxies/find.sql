-- proxies/find.sql: the proxy of an address and user.
SELECT id FROM proxies WHERE protocol = $protocol AND host = $host AND port = $port AND username IS NOT DISTINCT FROM $username;
