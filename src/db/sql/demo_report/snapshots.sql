-- demo_report/snapshots.sql: the snapshots of each store's latest crawl. $1 platform
SELECT s.*
  FROM dispensaries d
  JOIN store_product_snapshots s ON s.crawl_id = d.last_payload_id AND s.crawled_at = d.last_payload_at
 WHERE d.platform = $1
