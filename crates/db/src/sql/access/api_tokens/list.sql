-- access/api_tokens/list.sql: the tokens that are not revoked.
SELECT id, name, role, created_at, last_used_at FROM api_tokens WHERE revoked_at IS NULL ORDER BY id;
