-- media/accounts/find_or_add.sql: the id of an account, which is added where it is missing. $1 platform, $2 name, $3 kind
INSERT INTO media_accounts AS a (platform, username, kind)
VALUES ($1, $2, $3)
    ON CONFLICT (platform, username) DO UPDATE SET username = a.username
RETURNING id
