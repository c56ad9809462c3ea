-- access/api_tokens/credentials.sql: credentials that open the API now: each token and each login by one, by its
-- digest.
SELECT t.digest, false AS is_login, t.id, t.name, t.role FROM api_tokens t WHERE t.revoked_at IS NULL
UNION ALL
SELECT s.digest, true, t.id, t.name, t.role
  FROM api_logins s JOIN api_tokens t ON t.id = s.token_id
 WHERE s.expires_at > now() AND t.revoked_at IS NULL;
