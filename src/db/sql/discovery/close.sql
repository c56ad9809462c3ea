-- discovery/close.sql: switches the stores off that discovery saw closed, or sees no more; their products go out of stock. A store that
-- a person switched on again keeps its reason, and is left alone. Answers how many there were. $1 platform
WITH closing AS MATERIALIZED (
  SELECT d.id, CASE WHEN l.vanished_at IS NOT NULL THEN 'vanished' ELSE l.reason END AS reason
    FROM dutchie_discovery_locations l
    JOIN dispensaries d ON d.platform = l.platform AND d.platform_dispensary_id = l.platform_dispensary_id
   WHERE l.platform = $1
     AND (l.vanished_at IS NOT NULL OR l.reason = 'not_open')
     AND d.crawl_enabled
     AND d.disabled_reason IS NULL
   ORDER BY d.id
     FOR UPDATE OF d      -- the lock under which a store's products are written
),
closed AS (
  UPDATE dispensaries d
     SET crawl_enabled = false, disabled_reason = c.reason, updated_at = now()
    FROM closing c
   WHERE d.id = c.id
  RETURNING d.id, coalesce(d.last_payload_id, 0) AS crawl_id
),
emptied AS (
  UPDATE store_products p
     SET is_in_stock = false, stock_status = 'oos', consecutive_misses = 3, updated_at = now()
    FROM closed c
   WHERE p.dispensary_id = c.id
     AND (p.is_in_stock OR p.stock_status <> 'oos')
  RETURNING p.id, c.crawl_id
),
options AS (
  UPDATE store_product_variants v
     SET is_in_stock = false
    FROM emptied e
   WHERE v.store_product_id = e.id
     AND v.is_in_stock
  RETURNING v.*, e.crawl_id
),
history AS (
  INSERT INTO store_product_variant_history
         (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec, price_med, special_price_rec,
          special_price_med, quantity, quantity_censored, is_in_stock, gone)
  SELECT store_product_id, option_label, nth, crawl_id, now(), size_mg, size_ml, price_rec, price_med, special_price_rec,
         special_price_med, quantity, quantity_censored, is_in_stock, false
    FROM options
      ON CONFLICT DO NOTHING
)
SELECT count(*) AS closed FROM closed;
