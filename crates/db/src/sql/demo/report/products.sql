-- demo/report/products.sql: the products of a platform. $1 platform
SELECT p.id, d.platform_dispensary_id, p.provider_product_id, p.name_raw, p.brand_name_raw, p.category, p.subcategory, p.strain_type,
       p.image_url, p.consecutive_misses::int, p.price_rec, p.price_med, p.special_price_rec, p.special_price_med, p.is_on_special,
       p.thc_min, p.thc_max, p.thc_unit, p.cbd_min, p.cbd_max, p.cbd_unit, p.quantity, p.quantity_censored, p.is_in_stock, p.stock_status
  FROM store_products p JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE d.platform = $1
