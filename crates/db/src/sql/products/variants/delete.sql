-- products/variants/delete.sql: variants that their products no longer have. $1 products, $2 labels, $3 numbers
DELETE FROM store_product_variants v
 USING unnest($1::bigint[], $2::text[], $3::smallint[]) AS f (store_product_id, option_label, nth)
 WHERE v.store_product_id = f.store_product_id AND v.option_label = f.option_label AND v.nth = f.nth;
