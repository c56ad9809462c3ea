-- snapshots/copy.sql: one row a product and crawl.
COPY store_product_snapshots
     (store_product_id, crawl_id, crawled_at, price_rec, price_med, special_price_rec, special_price_med, is_on_special, quantity,
      quantity_censored, is_in_stock, stock_status, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit)
FROM STDIN (FORMAT binary)
