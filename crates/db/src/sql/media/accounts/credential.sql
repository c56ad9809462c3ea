-- media/accounts/credential.sql: what an account's credential is for, if it has one; platform: another than its own. $1 id of the account
SELECT CASE WHEN c.platform <> a.platform THEN c.platform END AS platform, c.kind IN ('password', 'cookies', 'token') AS is_usable
  FROM media_accounts a
  JOIN credentials c ON c.id = a.credential_id
 WHERE a.id = $1
