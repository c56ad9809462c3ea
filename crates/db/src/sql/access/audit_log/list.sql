-- access/audit_log/list.sql: by age, after id $after; NULL filters nothing.
SELECT id, at, who, token_id, address, request_id, action, target, detail
  FROM audit_log
 WHERE ($after::bigint IS NULL OR id {beyond} $after)
   AND ($who::text IS NULL OR who = $who)
   AND ($action::text IS NULL OR action = $action)
   AND ($from::timestamptz IS NULL OR at >= $from)
   AND ($to::timestamptz IS NULL OR at < $to)
 ORDER BY id {direction}
 LIMIT $limit;
