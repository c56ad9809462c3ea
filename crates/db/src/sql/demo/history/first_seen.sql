-- demo/history/first_seen.sql: the products are as old as their history
UPDATE store_products p SET first_seen_at = s.first FROM (SELECT store_product_id, min(crawled_at) AS first
  FROM store_product_snapshots WHERE crawl_id < 0 GROUP BY store_product_id) s
 WHERE p.id = s.store_product_id AND p.first_seen_at > s.first
