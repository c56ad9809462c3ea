-- products/record_misses.sql: counts a miss for each product of a store that a complete crawl did not contain (`stock::Stock::missed`);
-- the variants of one that goes out of stock go with it.
-- $1 store, $2 platform, $3 ids of the products it did contain, $4 when the previous complete crawl was fetched, $5 payload
-- (column crawl_id), $6 when it was fetched
WITH absent AS MATERIALIZED (
  SELECT p.id, p.is_in_stock AS was_in_stock
    FROM store_products p
   WHERE p.dispensary_id = $1
     AND p.provider = $2
     AND p.consecutive_misses < 3      -- at three it is out of stock already: nothing more to write
     AND p.id NOT IN (SELECT unnest($3::bigint[]))      -- hashed, whatever the planner thinks of an array's length
),
missed AS (
  UPDATE store_products p
     SET consecutive_misses = p.consecutive_misses + 1,
         is_in_stock = p.is_in_stock AND p.consecutive_misses < 2,
         stock_status = CASE WHEN p.consecutive_misses < 2 THEN p.stock_status ELSE 'oos' END,
         last_seen_at = CASE p.consecutive_misses WHEN 0 THEN greatest(p.last_seen_at, $4::timestamptz) ELSE p.last_seen_at END,
         updated_at = now()
    FROM absent a
   WHERE p.id = a.id
  RETURNING p.id, a.was_in_stock AND NOT p.is_in_stock AS out_of_stock
),
variants AS (
  UPDATE store_product_variants v
     SET is_in_stock = false
    FROM missed m
   WHERE m.out_of_stock
     AND v.store_product_id = m.id
     AND v.is_in_stock
  RETURNING v.*
),
history AS (
  INSERT INTO store_product_variant_history
         (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec, price_med, special_price_rec,
          special_price_med, quantity, quantity_censored, is_in_stock, gone)
  SELECT store_product_id, option_label, nth, $5::bigint, $6::timestamptz, size_mg, size_ml, price_rec, price_med, special_price_rec,
         special_price_med, quantity, quantity_censored, is_in_stock, false
    FROM variants
      ON CONFLICT DO NOTHING
)
SELECT count(*) AS missed, count(*) FILTER (WHERE out_of_stock) AS out_of_stock FROM missed;
