-- access/credentials/all.sql: every credential with its secret as it is stored. At most $1
SELECT id, name, platform, kind, username, secret FROM credentials ORDER BY id LIMIT $1
