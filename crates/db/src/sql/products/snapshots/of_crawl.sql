-- products/snapshots/of_crawl.sql: the products that have a snapshot of a payload. $1 payload (column crawl_id), $2
-- when it was fetched
SELECT store_product_id FROM store_product_snapshots WHERE crawl_id = $1 AND crawled_at = $2;
