-- products/variants/of_products.sql: the variants of products. $1 their ids
SELECT store_product_id, option_label, nth, position, size_mg, size_ml, price_rec, price_med, special_price_rec, special_price_med,
       quantity, quantity_censored, is_in_stock
  FROM store_product_variants
 WHERE store_product_id = ANY($1::bigint[]);
