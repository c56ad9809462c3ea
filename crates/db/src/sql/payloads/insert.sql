-- payloads/insert.sql: adds the row of a file that is durable already.
INSERT INTO raw_crawl_payloads
       (task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
VALUES ($task_id, $store, $platform, $storage_path, $sha256, $bytes, $product_count, $total_count, $coverage,
        -- a payload from the future would be its store's newest until then
        least($fetched_at, clock_timestamp()))
RETURNING id, task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage,
          json_time(fetched_at) AS fetched_at;
