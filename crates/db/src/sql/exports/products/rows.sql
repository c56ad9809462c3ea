-- exports/products/rows.sql: products, in their order. $is_begun: the first one was read.
SELECT h.place, v.strain_type, v.price, v.price_rec, v.price_med, v.special_price_rec, v.special_price_med, v.is_on_special, v.quantity,
       v.quantity_censored, v.is_in_stock, v.stock_status, v.consecutive_misses, v.thc_min, v.thc_max, v.thc_unit, v.cbd_min, v.cbd_max,
       v.cbd_unit, v.image_url, v.platform, v.provider_product_id, v.enterprise_product_id, v.first_seen_at, v.last_seen_at, v.updated_at,
       u.rec_per_g, u.med_per_g, u.rec_per_mg_thc, u.med_per_mg_thc, u.unit_basis
  FROM unnest($products::bigint[]) WITH ORDINALITY AS h (id, place)
 CROSS JOIN LATERAL (SELECT * FROM drover_v1.products v WHERE v.product_id = h.id OFFSET 0) v
  LEFT JOIN LATERAL cheapest_option(h.id) u ON true
 WHERE h.place > 1 OR NOT $is_begun
 LIMIT $limit
