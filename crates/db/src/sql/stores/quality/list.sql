-- stores/quality/list.sql: stores whose data is faulty, the newest first, below id $below; NULL filters nothing.
SELECT q.id, q.dispensary_id, d.name AS dispensary_name, q.kind, q.detail, json_time(q.since) AS since, json_time(q.seen_at) AS seen_at
  FROM quality_findings q
  JOIN dispensaries d ON d.id = q.dispensary_id
 WHERE ($kind::text IS NULL OR q.kind = $kind)
   AND ($store::bigint IS NULL OR q.dispensary_id = $store)
   AND ($below::bigint IS NULL OR q.id < $below)
 ORDER BY q.id DESC
 LIMIT $limit
