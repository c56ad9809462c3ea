-- products/snapshots/series.sql: the snapshots of a product, newest first. Planned for its values, so that it reads
-- the months that it needs.
SELECT json_time(s.crawled_at) AS crawled_at, s.price_rec, s.price_med, s.special_price_rec, s.special_price_med, s.is_on_special,
       s.quantity, s.quantity_censored, s.is_in_stock, s.stock_status
  FROM store_product_snapshots s
 WHERE s.store_product_id = $product
   AND s.crawled_at >= $from
   AND s.crawled_at < $to
 ORDER BY s.crawled_at DESC
 LIMIT $limit
