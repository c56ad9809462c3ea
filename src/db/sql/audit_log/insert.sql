-- audit_log/insert.sql: $1 who, $2 token's id, $3 address, $4 request's id, $5 action, $6 target, $7 detail.
INSERT INTO audit_log (who, token_id, address, request_id, action, target, detail) VALUES ($1, $2, $3, $4, $5, $6, $7);
