-- media_accounts/credential.sql: what an account's credential is for, if it has one. $1 id of the account
SELECT c.platform = a.platform AS is_of_platform, c.kind IN ('password', 'cookies', 'token') AS is_usable
  FROM media_accounts a
  JOIN credentials c ON c.id = a.credential_id
 WHERE a.id = $1
