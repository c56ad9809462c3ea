-- product_search/listed.sql: the beginning of the statements of this folder that find products: each product
-- with its position in the requested order, and whether it passes the filters; a null filters nothing.
-- Planned for its values, so that each CASE keeps only the requested branch. $1 stores, $2 category, $3
-- beginning of the brand, $4 in stock, $5 on special, $6 and $7 lowest and highest price, $8 sort, $9 to $11
-- end of the page before, $12 rows, $13 maximum products read, $14 and $15 the searched words
WITH listed AS NOT MATERIALIZED (
  SELECT l.product_id, l.price_before, l.price_changed_ms,
         CASE $8 WHEN 'price' THEN coalesce(l.price::bigint, 2147483648)
                 WHEN 'price_desc' THEN coalesce(-l.price::bigint, 2147483648)
                 WHEN 'price_change' THEN -l.price_changed_ms
                 WHEN 'newest' THEN -l.first_seen_ms
                 ELSE 0
         END AS sort_number,
         CASE $8 WHEN 'name' THEN l.name ELSE '' END AS sort_text,
         ($1 IS NULL OR l.dispensary_id = ANY ($1))
         AND ($2 IS NULL OR l.category = lower(btrim($2)))
         AND ($3 IS NULL OR starts_with(l.brand, brand_key($3)))
         AND ($4 IS NULL OR l.is_in_stock = $4)
         AND ($5 IS NULL OR l.is_on_special = $5)
         AND ($6 IS NULL OR l.price >= $6)
         AND ($7 IS NULL OR l.price <= $7) AS is_wanted
    FROM product_listing l
)
