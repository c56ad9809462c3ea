-- demo/limits/snapshots.sql: deletes snapshots of real crawls that are older than $1 seconds, but the last
-- one of each product, which has its price; the simulated history stays
DELETE FROM store_product_snapshots s
 USING store_products p, dispensaries d
 WHERE p.id = s.store_product_id AND d.id = p.dispensary_id
   AND s.crawl_id > 0 AND s.crawled_at < now() - make_interval(secs => $1::float8)
   AND CASE WHEN p.consecutive_misses > 0 THEN s.crawled_at < p.last_seen_at
            ELSE s.crawl_id IS DISTINCT FROM d.last_payload_id END
