-- products/write_variants.sql: brings the variants of the products $1 to what the payload says; equal rows are not touched. Each change of
-- price or stock is a row of the history. $1 products of the payload, $2 payload (column crawl_id), $3 when it was fetched, then one
-- array a column
WITH listed AS MATERIALIZED (
  SELECT *
    FROM unnest($4::bigint[], $5::text[], $6::smallint[], $7::bigint[], $8::float8[], $9::int[], $10::int[], $11::int[], $12::int[],
                $13::int[], $14::bool[], $15::bool[])
      AS f (store_product_id, option_label, nth, size_mg, size_ml, price_rec, price_med, special_price_rec, special_price_med,
            quantity, quantity_censored, is_in_stock)
),
gone AS (
  DELETE FROM store_product_variants
   WHERE store_product_id = ANY($1::bigint[])
     -- NOT IN is hashed whatever the planner thinks of an array's length, and no part of the key is null
     AND (store_product_id, option_label, nth) NOT IN (SELECT store_product_id, option_label, nth FROM listed)
  RETURNING *
),
compared AS MATERIALIZED (
  SELECT f.*,
         v.is_in_stock IS NULL
         OR (v.price_rec, v.price_med, v.special_price_rec, v.special_price_med, v.quantity, v.quantity_censored, v.is_in_stock)
            IS DISTINCT FROM
            (f.price_rec, f.price_med, f.special_price_rec, f.special_price_med, f.quantity, f.quantity_censored, f.is_in_stock)
         AS is_history,
         (v.size_mg, v.size_ml) IS DISTINCT FROM (f.size_mg, f.size_ml) AS is_resized
    FROM listed f
    LEFT JOIN store_product_variants v USING (store_product_id, option_label, nth)
),
written AS (
  INSERT INTO store_product_variants
         (store_product_id, option_label, nth, size_mg, size_ml, price_rec, price_med, special_price_rec, special_price_med, quantity,
          quantity_censored, is_in_stock)
  SELECT store_product_id, option_label, nth, size_mg, size_ml, price_rec, price_med, special_price_rec, special_price_med, quantity,
         quantity_censored, is_in_stock
    FROM compared
   WHERE is_history OR is_resized
      ON CONFLICT (store_product_id, option_label, nth) DO UPDATE
     SET size_mg = excluded.size_mg,
         size_ml = excluded.size_ml,
         price_rec = excluded.price_rec,
         price_med = excluded.price_med,
         special_price_rec = excluded.special_price_rec,
         special_price_med = excluded.special_price_med,
         quantity = excluded.quantity,
         quantity_censored = excluded.quantity_censored,
         is_in_stock = excluded.is_in_stock
)
INSERT INTO store_product_variant_history
       (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec, price_med, special_price_rec,
        special_price_med, quantity, quantity_censored, is_in_stock, gone)
SELECT store_product_id, option_label, nth, $2::bigint, $3::timestamptz, size_mg, size_ml, price_rec, price_med, special_price_rec,
       special_price_med, quantity, quantity_censored, is_in_stock, false
  FROM compared
 WHERE is_history
 UNION ALL
SELECT store_product_id, option_label, nth, $2::bigint, $3::timestamptz, size_mg, size_ml, price_rec, price_med, special_price_rec,
       special_price_med, quantity, quantity_censored, false, true
  FROM gone
    -- the same payload again, normalised by another version of the program
    ON CONFLICT (store_product_id, option_label, nth, crawl_id, crawled_at) DO UPDATE
   SET size_mg = excluded.size_mg,
       size_ml = excluded.size_ml,
       price_rec = excluded.price_rec,
       price_med = excluded.price_med,
       special_price_rec = excluded.special_price_rec,
       special_price_med = excluded.special_price_med,
       quantity = excluded.quantity,
       quantity_censored = excluded.quantity_censored,
       is_in_stock = excluded.is_in_stock,
       gone = excluded.gone;
