-- media/accounts/with_address.sql: which of these accounts have an address of their own. $1 platforms, $2 names
SELECT a.platform, a.username
  FROM unnest($1::text[], $2::text[]) AS asked(platform, username)
  JOIN media_accounts a USING (platform, username)
 WHERE a.url IS NOT NULL
