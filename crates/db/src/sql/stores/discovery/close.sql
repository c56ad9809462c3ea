-- stores/discovery/close.sql: disables these stores; their products go out of stock. $1 stores, $2 reasons
WITH closed AS (
  UPDATE dispensaries d
     SET crawl_enabled = false, disabled_reason = c.reason, needs_baseline = true, updated_at = now()
    FROM unnest($1::bigint[], $2::text[]) AS c(id, reason)
   WHERE d.id = c.id
  -- the history needs one: that of the last crawl, 0 = none
  RETURNING d.id, coalesce(d.last_payload_id, 0) AS crawl_id
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
