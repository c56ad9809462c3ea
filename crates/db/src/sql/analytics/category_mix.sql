-- analytics/category_mix.sql: categories, the largest first; a null filters nothing. Planned for its values.
-- $1 state, $2 store, $3 brand, $4 and $5 stores crawled from and before, $6 and $7 products in stock and
-- name of the last one of the page before, $8 rows
WITH mix AS (
  SELECT c.category,
         count(DISTINCT c.dispensary_id)       AS stores,
         sum(c.products)::bigint               AS products,
         sum(c.products_in_stock)::bigint      AS products_in_stock,
         sum(c.products_on_special)::bigint    AS products_on_special,
         min(c.price_min)                      AS price_min,
         round(sum(c.price_sum) / nullif(sum(c.priced), 0))::int AS price_avg,
         max(c.price_max)                      AS price_max,
         sum(sum(c.products_in_stock)) OVER () AS all_in_stock
    FROM mv_category_mix c
    JOIN dispensaries d ON d.id = c.dispensary_id
   WHERE ($1 IS NULL OR d.state = upper($1))
     AND ($2 IS NULL OR c.dispensary_id = $2)
     AND ($3 IS NULL OR c.brand_key = brand_key($3))
     AND ($4 IS NULL OR d.last_crawl_at >= $4)
     AND ($5 IS NULL OR d.last_crawl_at < $5)
   GROUP BY c.category
)
SELECT category AS category_key, nullif(category, '') AS category, stores, products, products_in_stock, products_on_special,
       coalesce(products_in_stock / nullif(all_in_stock, 0), 0)::float8 AS share, price_min, price_avg, price_max
  FROM mix
 WHERE ($6 IS NULL OR (-products_in_stock, category COLLATE "C") > (-($6::numeric), $7))
 ORDER BY -products_in_stock, category COLLATE "C"
 LIMIT $8
