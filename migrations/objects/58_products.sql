-- Products with their stores, for the reads of products and for users at psql. Times are limited to those that JSON can hold.

CREATE OR REPLACE VIEW v_products AS
SELECT p.id, p.dispensary_id, d.name AS dispensary_name, d.city, d.state, p.provider, p.provider_product_id, p.enterprise_product_id,
       p.name_raw, p.brand_name_raw, p.category, p.subcategory, p.strain_type, current_price(p) AS price,
       p.price_rec, p.price_med, p.special_price_rec, p.special_price_med, p.is_on_special, p.thc_min, p.thc_max, p.thc_unit, p.cbd_min,
       p.cbd_max, p.cbd_unit, p.quantity, p.quantity_censored, p.is_in_stock, p.stock_status, p.upstream_status, p.consecutive_misses,
       p.image_url, p.brand_image_url, p.local_image_path,
       json_time(p.first_seen_at) AS first_seen_at,
       json_time(p.last_seen_at) AS last_seen_at,
       json_time(d.last_complete_at) AS last_complete_at,
       json_time(p.updated_at) AS updated_at,
       p.canonical_category, u.rec_per_g, u.med_per_g, u.rec_per_mg_thc, u.med_per_mg_thc, u.unit_basis
  FROM store_products p
  JOIN dispensaries d ON d.id = p.dispensary_id
  LEFT JOIN LATERAL cheapest_option(p.id) u ON true;
