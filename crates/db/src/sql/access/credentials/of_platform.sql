-- access/credentials/of_platform.sql: the first credential of a platform. $1 platform
SELECT id, name, platform, kind, username, secret FROM credentials WHERE platform = $1 ORDER BY id LIMIT 1
