-- variants/copy.sql: new variants.
COPY store_product_variants
     (store_product_id, option_label, nth, position, size_mg, size_ml, price_rec, price_med, special_price_rec, special_price_med,
      quantity, quantity_censored, is_in_stock)
FROM STDIN (FORMAT binary)
