-- media/accounts/creators.sql: the creators with the ids $1, NULL: all enabled ones. At most $2, beginning with the one that was
-- tried longest ago
SELECT id, platform, username, enabled
  FROM media_accounts
 WHERE kind = 'creator'
   AND CASE WHEN $1::bigint[] IS NULL THEN enabled ELSE id = ANY ($1) END
 ORDER BY updated_at, id
 LIMIT $2
