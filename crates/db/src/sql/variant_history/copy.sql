-- variant_history/copy.sql: what a crawl changed of variants.
COPY store_product_variant_history
     (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec, price_med, special_price_rec,
      special_price_med, quantity, quantity_censored, is_in_stock, gone)
FROM STDIN (FORMAT binary)
