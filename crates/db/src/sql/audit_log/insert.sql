-- audit_log/insert.sql: $1 who, $2 token's id, $3 address, $4 request's id, $5 [{action, target, detail}]
INSERT INTO audit_log (who, token_id, address, request_id, action, target, detail)
SELECT $1, $2, $3, $4, e.action, e.target, e.detail
  FROM ROWS FROM (jsonb_to_recordset($5) AS (action text, target text, detail jsonb)) WITH ORDINALITY AS e(action, target, detail, ord)
 ORDER BY e.ord
