-- access/credentials/get.sql: a credential with its secret as it is stored. $1 id
SELECT id, name, platform, kind, username, secret FROM credentials WHERE id = $1
