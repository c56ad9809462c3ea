-- products/variants/update.sql: writes a menu's values of variants that have a row. One array per column;
-- db/variants.rs lists the columns
UPDATE store_product_variants v
   SET {set}
  FROM unnest({arrays}) AS f ({names})
 WHERE v.store_product_id = f.store_product_id AND v.option_label = f.option_label AND v.nth = f.nth;
