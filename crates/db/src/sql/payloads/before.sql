-- payloads/before.sql: the payload of a store that was fetched before another one of the store. $1 store, $2
-- the other one
SELECT id, task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage,
       json_time(fetched_at) AS fetched_at
  FROM raw_crawl_payloads
 WHERE dispensary_id = $1
   AND (raw_crawl_payloads.fetched_at, id) < (SELECT o.fetched_at, o.id FROM raw_crawl_payloads o WHERE o.id = $2)
 ORDER BY raw_crawl_payloads.fetched_at DESC, id DESC
 LIMIT 1;
