-- products/search/listed.sql: the beginning of the statements of this folder that find products: each product
-- with its position in the requested order, and whether it passes the filters; a null filters nothing.
-- Planned for its values, so that each CASE keeps only the requested branch. $brand: its beginning. $after_…: the last
-- row of the page before. $max_scanned: maximum number of products that are read.
WITH listed AS NOT MATERIALIZED (
  SELECT l.product_id, l.price_before, l.price_changed_ms,
         CASE $sort WHEN 'price' THEN coalesce(l.price::bigint, 2147483648)
                 WHEN 'price_desc' THEN coalesce(-l.price::bigint, 2147483648)
                 WHEN 'price_change' THEN -l.price_changed_ms
                 WHEN 'newest' THEN -l.first_seen_ms
                 WHEN 'unit_price' THEN coalesce(l.unit_order, 9223372036854775807)
                 ELSE 0
         END AS sort_number,
         CASE $sort WHEN 'name' THEN l.name ELSE '' END AS sort_text,
         ($stores::bigint[] IS NULL OR l.dispensary_id = ANY ($stores))
         AND ($category::text IS NULL OR lower(btrim($category)) IN (l.category, l.canonical_category))
         AND ($brand::text IS NULL OR starts_with(l.brand, brand_key($brand)))
         AND ($in_stock::bool IS NULL OR l.is_in_stock = $in_stock)
         AND ($on_special::bool IS NULL OR l.is_on_special = $on_special)
         AND ($min_price::int IS NULL OR l.price >= $min_price)
         AND ($max_price::int IS NULL OR l.price <= $max_price)
         AND ($max_unit_price::bigint IS NULL OR l.unit_order <= least($max_unit_price, 999999999999)) AS is_wanted
    FROM product_listing l
)
