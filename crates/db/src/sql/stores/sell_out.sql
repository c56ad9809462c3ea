-- stores/sell_out.sql: the products of these stores go out of stock; no change is written of it. $1 stores
WITH closed AS (
  -- the history needs a crawl: that of the last one, 0 = none
  SELECT id, coalesce(last_payload_id, 0) AS crawl_id FROM dispensaries WHERE id = ANY($1)
),
products AS (
  UPDATE store_products p
     SET is_in_stock = false, stock_status = 'oos', consecutive_misses = 3, updated_at = now()
    FROM closed c
   WHERE p.dispensary_id = c.id
     AND (p.is_in_stock OR p.stock_status <> 'oos')
  RETURNING p.id, c.crawl_id
),
variants AS (
  UPDATE store_product_variants v
     SET is_in_stock = false
    FROM products p
   WHERE v.store_product_id = p.id
     AND v.is_in_stock
  RETURNING v.*, p.crawl_id
),
history AS (
  INSERT INTO store_product_variant_history
         (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec, price_med, special_price_rec,
          special_price_med, quantity, quantity_censored, is_in_stock, gone, rec_per_g, med_per_g, rec_per_ml, med_per_ml, rec_per_mg_thc,
          med_per_mg_thc, unit_basis)
  SELECT store_product_id, option_label, nth, crawl_id, now(), size_mg, size_ml, price_rec, price_med, special_price_rec,
         special_price_med, quantity, quantity_censored, is_in_stock, false, rec_per_g, med_per_g, rec_per_ml, med_per_ml, rec_per_mg_thc,
         med_per_mg_thc, unit_basis
    FROM variants
      ON CONFLICT DO NOTHING
)
SELECT;
