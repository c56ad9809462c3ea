-- products/views/of_store.sql: a page of a store's products; a null filters nothing. Planned for its values. $q: part of
-- the name or brand. $after_…: the last row of the page before
SELECT v.*, l.sort_number, l.sort_text
  FROM (SELECT s.id, s.sort_number, s.sort_text
          FROM (SELECT p.*, current_price(p) AS price,
                       -- products without a price, or a brand, come last
                       CASE $sort WHEN 'price' THEN coalesce(current_price(p), 2147483648)
                               WHEN 'price_desc' THEN coalesce(-current_price(p)::bigint, 1)
                               WHEN 'brand' THEN (p.brand_name_raw IS NULL)::int
                               WHEN 'newest' THEN -(extract(epoch FROM json_time(p.first_seen_at)) * 1000)::bigint
                               WHEN 'unit_price' THEN coalesce((SELECT u.unit_order FROM cheapest_option(p.id) u), 9223372036854775807)
                               ELSE 0
                       END::bigint AS sort_number,
                       CASE $sort WHEN 'name' THEN left(lower(p.name_raw), 100)
                               WHEN 'brand' THEN coalesce(left(lower(p.brand_name_raw), 100), '')
                               ELSE ''
                       END COLLATE "C" AS sort_text
                  FROM store_products p
                 WHERE p.dispensary_id = $store) s
         WHERE ($category::text IS NULL OR is_of_category($category, s.category, s.canonical_category))
           AND ($brand::text IS NULL OR brand_key(s.brand_name_raw) = brand_key($brand))
           AND ($in_stock::bool IS NULL OR s.is_in_stock = $in_stock)
           AND ($on_special::bool IS NULL OR s.is_on_special = $on_special)
           AND ($min_price::int IS NULL OR s.price >= $min_price)
           AND ($max_price::int IS NULL OR s.price <= $max_price)
           AND ($q::text IS NULL OR strpos(lower(s.name_raw), lower($q)) > 0 OR strpos(lower(s.brand_name_raw), lower($q)) > 0)
           AND ($after_number::bigint IS NULL OR (s.sort_number, s.sort_text, s.id) > ($after_number, $after_text, $after_id))
         ORDER BY s.sort_number, s.sort_text, s.id
         LIMIT $limit) l
  JOIN v_products v ON v.id = l.id
 ORDER BY l.sort_number, l.sort_text, l.id
