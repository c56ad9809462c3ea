-- api_tokens/insert.sql: adds a token. $1 name, $2 role, $3 digest of its text. No row: there are $4 or more
-- that are not revoked.
INSERT INTO api_tokens (name, role, digest)
SELECT $1, $2, $3
 WHERE (SELECT count(*) FROM api_tokens WHERE revoked_at IS NULL) < $4
RETURNING id, name, role, created_at, last_used_at;
