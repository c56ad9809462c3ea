-- demo/report/snapshots.sql: the snapshots of each store's latest crawl. $1 platform
SELECT s.*
  FROM dispensaries d
  JOIN store_product_snapshots s ON s.crawl_id = d.last_payload_id AND s.crawled_at = d.last_payload_at
 WHERE d.platform = $1
   -- by the index of block ranges, as in totals.sql
   AND s.crawl_id >= (SELECT min(last_payload_id) FROM dispensaries WHERE platform = $1)
