-- products/views/options.sql: a product's options in the order of the menu. $1 product, $2 at most
SELECT option_label, nth, position, size_mg, size_ml, price_rec, price_med, special_price_rec, special_price_med, quantity,
       quantity_censored, is_in_stock, rec_per_g, med_per_g, rec_per_ml, med_per_ml, rec_per_mg_thc, med_per_mg_thc, thc_mg, unit_basis,
       no_unit_price, no_thc_price, bundle_quantity, bundle_total, bundle_per_g
  FROM store_product_variants
 WHERE store_product_id = $1
 ORDER BY position NULLS LAST, option_label, nth
 LIMIT $2;
