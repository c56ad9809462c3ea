-- access/api_tokens/insert.sql: adds a token, with the digest of its text. No row: there are $max_tokens or more that are not
-- revoked.
INSERT INTO api_tokens (name, role, digest)
SELECT $name, $role, $digest
 WHERE (SELECT count(*) FROM api_tokens WHERE revoked_at IS NULL) < $max_tokens
RETURNING id, name, role, created_at, last_used_at;
