-- payload_views/list.sql: payloads for display, by the time of the fetch; a null filters nothing. Planned for its
-- values, so that each filter finds its index. $1 store, $2 platform, $3 and $4 fetched from and before, $5
-- and $6 time and id of the last row of the page before, $7 rows
WITH page AS MATERIALIZED (
  SELECT * FROM raw_crawl_payloads p
   WHERE ($1 IS NULL OR p.dispensary_id = $1)
     AND ($2 IS NULL OR p.platform = $2)
     AND ($3 IS NULL OR p.fetched_at >= $3)
     AND ($4 IS NULL OR p.fetched_at < $4)
     AND ($5 IS NULL OR (p.fetched_at, p.id) {beyond} ($5, $6))
   ORDER BY p.fetched_at {direction}, p.id {direction} LIMIT $7
)
SELECT p.id, p.task_id, p.dispensary_id, d.name AS dispensary_name, p.platform, p.storage_path, p.sha256, p.bytes, p.product_count,
       p.total_count, p.coverage, json_time(p.fetched_at) AS fetched_at
  FROM page p
  LEFT JOIN dispensaries d ON d.id = p.dispensary_id
 ORDER BY p.fetched_at {direction}, p.id {direction}
