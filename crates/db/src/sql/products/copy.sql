-- products/copy.sql: new products.
COPY store_products
     (id, dispensary_id, provider, provider_product_id, consecutive_misses, first_seen_at, last_seen_at, content_hash,
      enterprise_product_id, name_raw, brand_name_raw, category, subcategory, strain_type, price_rec, price_med, special_price_rec,
      special_price_med, is_on_special, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit, quantity, quantity_censored,
      is_in_stock, stock_status, upstream_status, image_url, brand_image_url, specials_hash, upstream_created_at, upstream_updated_at)
FROM STDIN (FORMAT binary)
