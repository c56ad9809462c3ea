-- api_logins/insert.sql: adds a login by token $2 with digest $1 for $3 seconds. Deletes the oldest beyond
-- $4, and ended ones.
WITH gone AS (
  DELETE FROM api_logins s
   WHERE s.expires_at <= now()
      OR s.digest IN (SELECT o.digest FROM api_logins o ORDER BY o.expires_at DESC OFFSET $4)
)
INSERT INTO api_logins (digest, token_id, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3::float8)) RETURNING expires_at;
