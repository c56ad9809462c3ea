-- demo/limits/options.sql: deletes the history of options from real crawls that ended more than $1 seconds
-- ago: what held at that time stays, for a row is written only when an option changes. Products that are not
-- on the menu keep all of it, as they keep their last snapshot
DELETE FROM store_product_variant_history h
 USING store_products p
 WHERE p.id = h.store_product_id AND p.consecutive_misses = 0
   AND h.crawl_id > 0 AND h.crawled_at < now() - make_interval(secs => $1::float8)
   AND EXISTS (SELECT FROM store_product_variant_history later
                WHERE later.store_product_id = h.store_product_id AND later.option_label = h.option_label AND later.nth = h.nth
                  AND later.crawl_id > h.crawl_id AND later.crawled_at < now() - make_interval(secs => $1))
