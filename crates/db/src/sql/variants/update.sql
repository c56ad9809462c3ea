-- variants/update.sql: what a menu says of variants that have a row. One array a column; the columns are listed
-- in db/variants.rs
UPDATE store_product_variants v
   SET {set}
  FROM unnest({arrays}) AS f ({names})
 WHERE v.store_product_id = f.store_product_id AND v.option_label = f.option_label AND v.nth = f.nth;
