-- demo_limits/snapshots.sql: deletes snapshots of real crawls that are older than $1 seconds; the
-- simulated history stays
DELETE FROM store_product_snapshots WHERE crawl_id > 0 AND crawled_at < now() - make_interval(secs => $1::float8)
