-- media_accounts/creators.sql: creators among $1, NULL: those that are enabled; the one that was tried longest ago first. At most $2
SELECT id, platform, username, enabled
  FROM media_accounts
 WHERE kind = 'creator'
   AND CASE WHEN $1::bigint[] IS NULL THEN enabled ELSE id = ANY ($1) END
 ORDER BY updated_at, id
 LIMIT $2
