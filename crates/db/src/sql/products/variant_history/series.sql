-- products/variant_history/series.sql: the history of an option, newest first.
SELECT json_time(h.crawled_at) AS crawled_at, h.size_mg, h.size_ml, h.rec_per_g, h.med_per_g, h.rec_per_ml, h.med_per_ml, h.rec_per_mg_thc,
       h.med_per_mg_thc, h.price_rec, h.price_med, h.special_price_rec, h.special_price_med, h.quantity, h.quantity_censored, h.is_in_stock, h.gone
  FROM store_product_variant_history h
 WHERE h.store_product_id = $product
   AND h.option_label = $label
   AND h.nth = $nth
   AND h.crawled_at < $before
 ORDER BY h.crawled_at DESC, h.crawl_id DESC
 LIMIT $limit
