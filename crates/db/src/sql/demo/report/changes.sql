-- demo/report/changes.sql: the changes of products of the platform $1, from crawls that were fetched at $2 or later.
SELECT d.platform_dispensary_id, p.provider_product_id, c.option_label, c.nth, c.kind::text AS kind, c.old_rec, c.new_rec, c.old_med,
       c.new_med, c.old_special_rec, c.new_special_rec, c.old_special_med, c.new_special_med, c.old_quantity, c.new_quantity,
       c.old_quantity_censored, c.new_quantity_censored, c.cents, round(c.percent::numeric, 2)::float8 AS percent
  FROM change_batches b
  JOIN product_changes c ON c.crawl_id = b.crawl_id AND c.crawled_at = b.crawled_at
  JOIN store_products p ON p.id = c.store_product_id
  JOIN dispensaries d ON d.id = b.dispensary_id
 WHERE p.provider = $1 AND b.crawled_at >= $2;
