-- payloads/latest.sql: a store's newest payload. $1 store
SELECT id, task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage,
       json_time(fetched_at) AS fetched_at
  FROM raw_crawl_payloads
 WHERE dispensary_id = $1
 ORDER BY raw_crawl_payloads.fetched_at DESC, id DESC
 LIMIT 1;
