-- api_logins/delete.sql: login $1 is over.
DELETE FROM api_logins WHERE digest = $1;
