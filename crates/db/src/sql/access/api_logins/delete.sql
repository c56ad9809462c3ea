-- access/api_logins/delete.sql: ends login $1.
DELETE FROM api_logins WHERE digest = $1;
