-- products/variants/put_out_of_stock.sql: puts the variants of products out of stock that have gone out of stock, and returns
-- them as they were. $1 products, $2 payload (column crawl_id), $3 when it was fetched
WITH changed AS (
  UPDATE store_product_variants
     SET is_in_stock = false
   WHERE store_product_id = ANY($1::bigint[])
     AND is_in_stock
  RETURNING *
),
history AS (
  INSERT INTO store_product_variant_history
         (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec, price_med, special_price_rec,
          special_price_med, quantity, quantity_censored, is_in_stock, gone, rec_per_g, med_per_g, rec_per_ml, med_per_ml, rec_per_mg_thc,
          med_per_mg_thc, unit_basis)
  SELECT store_product_id, option_label, nth, $2::bigint, $3::timestamptz, size_mg, size_ml, price_rec, price_med, special_price_rec,
         special_price_med, quantity, quantity_censored, is_in_stock, false, rec_per_g, med_per_g, rec_per_ml, med_per_ml, rec_per_mg_thc,
         med_per_mg_thc, unit_basis
    FROM changed
      ON CONFLICT DO NOTHING
)
SELECT store_product_id, option_label, nth, size_mg, size_ml, price_rec, price_med, special_price_rec, special_price_med,
       quantity, quantity_censored, true AS is_in_stock
  FROM changed;
