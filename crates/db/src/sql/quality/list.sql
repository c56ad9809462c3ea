-- quality/list.sql: stores whose data is faulty, the newest first. $1 kind, $2 store, $3 below this id; NULL
-- filters nothing. At most $4
SELECT q.id, q.dispensary_id, d.name AS dispensary_name, q.kind, q.detail, json_time(q.since) AS since, json_time(q.seen_at) AS seen_at
  FROM quality_findings q
  JOIN dispensaries d ON d.id = q.dispensary_id
 WHERE ($1::text IS NULL OR q.kind = $1)
   AND ($2::bigint IS NULL OR q.dispensary_id = $2)
   AND ($3::bigint IS NULL OR q.id < $3)
 ORDER BY q.id DESC
 LIMIT $4
