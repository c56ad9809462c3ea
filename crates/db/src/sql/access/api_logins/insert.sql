-- access/api_logins/insert.sql: adds a login by a token. Deletes the oldest beyond $others, and ended ones.
WITH gone AS (
  DELETE FROM api_logins s
   WHERE s.expires_at <= now()
      OR s.digest IN (SELECT o.digest FROM api_logins o ORDER BY o.expires_at DESC OFFSET $others)
)
INSERT INTO api_logins (digest, token_id, expires_at)
VALUES ($digest, $token, now() + make_interval(secs => $seconds::float8))
RETURNING expires_at;
