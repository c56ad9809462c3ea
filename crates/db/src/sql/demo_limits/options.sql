-- demo_limits/options.sql: deletes the history of options from real crawls that are older than $1 seconds
DELETE FROM store_product_variant_history WHERE crawl_id > 0 AND crawled_at < now() - make_interval(secs => $1::float8)
