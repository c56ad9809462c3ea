-- media/records/list.sql: records of a kind by their ids. $1 just this id, NULL: any; $2 after this id. At most $3.
SELECT to_jsonb(r) - 'secret' AS record
  FROM {table} r
 WHERE ($1::bigint IS NULL OR r.id = $1)
   AND ($2::bigint IS NULL OR r.id > $2)
 ORDER BY r.id
 LIMIT $3
