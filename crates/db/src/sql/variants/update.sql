-- variants/update.sql: what a menu says of variants that have a row. One array a column; $1 to $3 are the key
UPDATE store_product_variants v
   SET position = f.position, size_mg = f.size_mg, size_ml = f.size_ml, price_rec = f.price_rec, price_med = f.price_med,
       special_price_rec = f.special_price_rec, special_price_med = f.special_price_med, quantity = f.quantity,
       quantity_censored = f.quantity_censored, is_in_stock = f.is_in_stock
  FROM unnest($1::bigint[], $2::text[], $3::smallint[], $4::smallint[], $5::bigint[], $6::float8[], $7::int[], $8::int[], $9::int[],
              $10::int[], $11::int[], $12::bool[], $13::bool[])
    AS f (store_product_id, option_label, nth, position, size_mg, size_ml, price_rec, price_med, special_price_rec,
          special_price_med, quantity, quantity_censored, is_in_stock)
 WHERE v.store_product_id = f.store_product_id AND v.option_label = f.option_label AND v.nth = f.nth;
