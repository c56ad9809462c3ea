-- payloads/views/get.sql: $1 id
SELECT p.id, p.task_id, p.dispensary_id, d.name AS dispensary_name, p.platform, p.storage_path, p.sha256, p.bytes, p.product_count,
       p.total_count, p.coverage, json_time(p.fetched_at) AS fetched_at
  FROM raw_crawl_payloads p
  LEFT JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE p.id = $1;
