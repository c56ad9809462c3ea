-- payloads/insert.sql: adds the row of a file that is durable already.
INSERT INTO raw_crawl_payloads
       (task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
        -- a payload from the future would be its store's newest until then
        least($10, clock_timestamp()))
RETURNING id, task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage,
          json_time(fetched_at) AS fetched_at;
