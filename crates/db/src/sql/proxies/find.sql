-- proxies/find.sql: the proxy of an address and user. $1 protocol, $2 host, $3 port, $4 username
SELECT id FROM proxies WHERE protocol = $1 AND host = $2 AND port = $3 AND username IS NOT DISTINCT FROM $4;
