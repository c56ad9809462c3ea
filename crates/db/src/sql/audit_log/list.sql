-- audit_log/list.sql: by age, after id $1. $2 who, $3 action, $4 from, $5 to; NULL filters nothing. At
-- most $6.
SELECT id, at, who, token_id, address, request_id, action, target, detail
  FROM audit_log
 WHERE ($1::bigint IS NULL OR id {beyond} $1)
   AND ($2::text IS NULL OR who = $2)
   AND ($3::text IS NULL OR action = $3)
   AND ($4::timestamptz IS NULL OR at >= $4)
   AND ($5::timestamptz IS NULL OR at < $5)
 ORDER BY id {direction}
 LIMIT $6;
