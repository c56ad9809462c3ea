-- products/views/of_store.sql: a page of a store's products; a null filters nothing. Planned for its values. $q: part of
-- the name or brand. $after_…: the last row of the page before
SELECT p.*
  FROM (SELECT v.*,
               -- products without a price, or a brand, come last
               CASE $sort WHEN 'price' THEN coalesce(v.price, 2147483648)
                       WHEN 'price_desc' THEN coalesce(-v.price::bigint, 1)
                       WHEN 'brand' THEN (v.brand_name_raw IS NULL)::int
                       WHEN 'newest' THEN -(extract(epoch FROM v.first_seen_at) * 1000)::bigint
                       ELSE 0
               END::bigint AS sort_number,
               CASE $sort WHEN 'name' THEN left(lower(v.name_raw), 100)
                       WHEN 'brand' THEN coalesce(left(lower(v.brand_name_raw), 100), '')
                       ELSE ''
               END COLLATE "C" AS sort_text
          FROM v_products v
         WHERE v.dispensary_id = $store) p
 WHERE ($category::text IS NULL OR lower(p.category) = lower($category))
   AND ($brand::text IS NULL OR brand_key(p.brand_name_raw) = brand_key($brand))
   AND ($in_stock::bool IS NULL OR p.is_in_stock = $in_stock)
   AND ($on_special::bool IS NULL OR p.is_on_special = $on_special)
   AND ($min_price::int IS NULL OR p.price >= $min_price)
   AND ($max_price::int IS NULL OR p.price <= $max_price)
   AND ($q::text IS NULL OR strpos(lower(p.name_raw), lower($q)) > 0 OR strpos(lower(p.brand_name_raw), lower($q)) > 0)
   AND ($after_number::bigint IS NULL OR (p.sort_number, p.sort_text, p.id) > ($after_number, $after_text, $after_id))
 ORDER BY p.sort_number, p.sort_text, p.id
 LIMIT $limit
