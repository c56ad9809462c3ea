-- What the table says of every product of a platform, by store.
SELECT d.platform_dispensary_id, p.provider_product_id, p.name_raw, p.brand_name_raw, p.price_rec, p.price_med,
       p.special_price_rec, p.special_price_med, p.is_on_special, p.quantity, p.quantity_censored, p.is_in_stock, p.stock_status,
       p.consecutive_misses::int, (SELECT count(*) FROM store_product_variants v WHERE v.store_product_id = p.id) AS variants
  FROM store_products p JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE d.platform = $1
