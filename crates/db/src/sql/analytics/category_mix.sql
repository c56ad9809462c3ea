-- analytics/category_mix.sql: categories, the largest first; a null filters nothing. Planned for its values. $from and
-- $to: when the stores were crawled. $after_…: the last row of the page before.
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
   WHERE ($state::text IS NULL OR d.state = upper($state))
     AND ($store::bigint IS NULL OR c.dispensary_id = $store)
     AND ($brand::text IS NULL OR c.brand_key = brand_key($brand))
     AND ($from::timestamptz IS NULL OR d.last_crawl_at >= $from)
     AND ($to::timestamptz IS NULL OR d.last_crawl_at < $to)
   GROUP BY c.category
)
SELECT category AS category_key, nullif(category, '') AS category, stores, products, products_in_stock, products_on_special,
       coalesce(products_in_stock / nullif(all_in_stock, 0), 0)::float8 AS share, price_min, price_avg, price_max
  FROM mix
 WHERE ($after_in_stock::bigint IS NULL OR (-products_in_stock, category COLLATE "C") > (-($after_in_stock::numeric), $after_category))
 ORDER BY -products_in_stock, category COLLATE "C"
 LIMIT $rows
