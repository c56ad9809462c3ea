-- product_views/of_store.sql: a page of a store's products; a null filters nothing. Planned for its values. $1 store, $2 category, $3 brand,
-- $4 in stock, $5 on special, $6 and $7 lowest and highest price, $8 part of the name or brand, $9 what it is sorted by,
-- $10 to $12 where the page before ended, $13 rows
SELECT p.id, p.dispensary_id, d.name AS dispensary_name, d.city, d.state, p.provider, p.provider_product_id, p.enterprise_product_id,
       p.name_raw, p.brand_name_raw, p.category, p.subcategory, p.strain_type, p.price, p.price_rec, p.price_med, p.special_price_rec,
       p.special_price_med, p.is_on_special, p.thc_min, p.thc_max, p.thc_unit, p.cbd_min, p.cbd_max, p.cbd_unit, p.quantity,
       p.quantity_censored, p.is_in_stock, p.stock_status, p.upstream_status, p.consecutive_misses, p.image_url, p.brand_image_url,
       p.local_image_path,
       json_time(p.first_seen_at) AS first_seen_at,
       json_time(p.last_seen_at) AS last_seen_at,
       json_time(d.last_complete_at) AS last_complete_at,
       json_time(p.updated_at) AS updated_at,
       p.sort_number, p.sort_text
  FROM (SELECT s.*, o.price,
               -- what has no price, or no brand, comes last
               CASE $9 WHEN 'price' THEN coalesce(o.price, 2147483648)
                       WHEN 'price_desc' THEN coalesce(-o.price::bigint, 1)
                       WHEN 'brand' THEN (s.brand_name_raw IS NULL)::int
                       WHEN 'newest' THEN -(extract(epoch FROM json_time(s.first_seen_at)) * 1000)::bigint
                       ELSE 0
               END::bigint AS sort_number,
               CASE $9 WHEN 'name' THEN left(lower(s.name_raw), 100)
                       WHEN 'brand' THEN coalesce(left(lower(s.brand_name_raw), 100), '')
                       ELSE ''
               END COLLATE "C" AS sort_text
          FROM store_products s
         CROSS JOIN LATERAL (SELECT coalesce(least(s.price_rec, s.special_price_rec), least(s.price_med, s.special_price_med)) AS price) o
         WHERE s.dispensary_id = $1) p
  JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE ($2 IS NULL OR lower(p.category) = lower($2))
   AND ($3 IS NULL OR lower(p.brand_name_raw) = lower($3))
   AND ($4 IS NULL OR p.is_in_stock = $4)
   AND ($5 IS NULL OR p.is_on_special = $5)
   AND ($6 IS NULL OR p.price >= $6)
   AND ($7 IS NULL OR p.price <= $7)
   AND ($8 IS NULL OR strpos(lower(p.name_raw), lower($8)) > 0 OR strpos(lower(p.brand_name_raw), lower($8)) > 0)
   AND ($10 IS NULL OR (p.sort_number, p.sort_text, p.id) > ($10, $11, $12))
 ORDER BY p.sort_number, p.sort_text, p.id
 LIMIT $13
