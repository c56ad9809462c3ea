-- payloads/views/list.sql: payloads for display, by the time of the fetch; a null filters nothing. Planned for its
-- values, so that each filter finds its index. $after_…: the last row of the page before
WITH page AS MATERIALIZED (
  SELECT * FROM raw_crawl_payloads p
   WHERE ($store::bigint IS NULL OR p.dispensary_id = $store)
     AND ($platform::text IS NULL OR p.platform = $platform)
     AND ($from::timestamptz IS NULL OR p.fetched_at >= $from)
     AND ($to::timestamptz IS NULL OR p.fetched_at < $to)
     AND ($after_time::timestamptz IS NULL OR (p.fetched_at, p.id) {beyond} ($after_time, $after_id))
   ORDER BY p.fetched_at {direction}, p.id {direction} LIMIT $limit
)
SELECT p.id, p.task_id, p.dispensary_id, d.name AS dispensary_name, p.platform, p.storage_path, p.sha256, p.bytes, p.product_count,
       p.total_count, p.coverage, json_time(p.fetched_at) AS fetched_at
  FROM page p
  LEFT JOIN dispensaries d ON d.id = p.dispensary_id
 ORDER BY p.fetched_at {direction}, p.id {direction}
