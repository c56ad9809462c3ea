-- variant_history/series.sql: the history of an option, newest first. $1 product, $2 label, $3 number, $4
-- crawled before, $5 rows
SELECT json_time(h.crawled_at) AS crawled_at, h.size_mg, h.size_ml, h.price_rec, h.price_med, h.special_price_rec, h.special_price_med,
       h.quantity, h.quantity_censored, h.is_in_stock, h.gone
  FROM store_product_variant_history h
 WHERE h.store_product_id = $1
   AND h.option_label = $2
   AND h.nth = $3
   AND h.crawled_at < $4
 ORDER BY h.crawled_at DESC, h.crawl_id DESC
 LIMIT $5
