-- payloads/get.sql: $1 id
SELECT id, task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage,
       json_time(fetched_at) AS fetched_at
  FROM raw_crawl_payloads
 WHERE id = $1;
