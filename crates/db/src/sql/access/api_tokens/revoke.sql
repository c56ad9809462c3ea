-- access/api_tokens/revoke.sql: revokes token $1, and the logins by it.
WITH revoked AS (
  UPDATE api_tokens SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING id, name, role, created_at, last_used_at
), ended AS (
  DELETE FROM api_logins WHERE token_id = $1
)
SELECT * FROM revoked;
