-- forums/read.sql: forums, to read their threads. $1 the one of this name, NULL: all. At most $2
SELECT id, name, kind, base_url, credential_id, selectors
  FROM forums
 WHERE $1::text IS NULL OR name = $1
 ORDER BY id
 LIMIT $2
