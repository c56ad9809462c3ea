-- access/audit_log/insert.sql: $token is its id, $entries are [{action, target, detail}]
INSERT INTO audit_log (who, token_id, address, request_id, action, target, detail)
SELECT $who, $token, $address, $request_id, e.action, e.target, e.detail
  FROM ROWS FROM (jsonb_to_recordset($entries) AS (action text, target text, detail jsonb)) WITH ORDINALITY AS e(action, target, detail, ord)
 ORDER BY e.ord
