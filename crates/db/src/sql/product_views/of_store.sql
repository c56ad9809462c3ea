-- product_views/of_store.sql: a page of a store's products; a null filters nothing. Planned for its values.
-- $1 store, $2 category, $3 brand, $4 in stock, $5 on special, $6 and $7 lowest and highest price, $8 part of
-- the name or brand, $9 sort, $10 to $12 end of the page before, $13 rows
SELECT p.*
  FROM (SELECT v.*,
               -- products without a price, or a brand, come last
               CASE $9 WHEN 'price' THEN coalesce(v.price, 2147483648)
                       WHEN 'price_desc' THEN coalesce(-v.price::bigint, 1)
                       WHEN 'brand' THEN (v.brand_name_raw IS NULL)::int
                       WHEN 'newest' THEN -(extract(epoch FROM v.first_seen_at) * 1000)::bigint
                       ELSE 0
               END::bigint AS sort_number,
               CASE $9 WHEN 'name' THEN left(lower(v.name_raw), 100)
                       WHEN 'brand' THEN coalesce(left(lower(v.brand_name_raw), 100), '')
                       ELSE ''
               END COLLATE "C" AS sort_text
          FROM v_products v
         WHERE v.dispensary_id = $1) p
 WHERE ($2 IS NULL OR lower(p.category) = lower($2))
   AND ($3 IS NULL OR brand_key(p.brand_name_raw) = brand_key($3))
   AND ($4 IS NULL OR p.is_in_stock = $4)
   AND ($5 IS NULL OR p.is_on_special = $5)
   AND ($6 IS NULL OR p.price >= $6)
   AND ($7 IS NULL OR p.price <= $7)
   AND ($8 IS NULL OR strpos(lower(p.name_raw), lower($8)) > 0 OR strpos(lower(p.brand_name_raw), lower($8)) > 0)
   AND ($10 IS NULL OR (p.sort_number, p.sort_text, p.id) > ($10, $11, $12))
 ORDER BY p.sort_number, p.sort_text, p.id
 LIMIT $13
