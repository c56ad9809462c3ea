-- analytics/brand_presence.sql: brands by state, those of most stores first; a null filters nothing. Planned
-- for its values. $1 state, $2 store, $3 brand, $4 and $5 stores crawled from and before, $6 to $8 stores,
-- brand and state of the last one of the page before, $9 rows
WITH brands AS (
  SELECT b.brand_key COLLATE "C" AS brand_key, coalesce(d.state, '') COLLATE "C" AS state_key,
         min(b.brand COLLATE "C")                       AS brand,
         count(*)                                       AS stores,
         count(*) FILTER (WHERE b.products_in_stock > 0) AS stores_in_stock,
         sum(b.products)::bigint                        AS products,
         sum(b.products_in_stock)::bigint               AS products_in_stock,
         sum(b.products_on_special)::bigint             AS products_on_special,
         min(b.price_min)                               AS price_min,
         round(sum(b.price_sum) / nullif(sum(b.priced), 0))::int AS price_avg,
         max(b.price_max)                               AS price_max
    FROM mv_brand_presence b
    JOIN dispensaries d ON d.id = b.dispensary_id
   WHERE ($1 IS NULL OR d.state = upper($1))
     AND ($2 IS NULL OR b.dispensary_id = $2)
     AND ($3 IS NULL OR b.brand_key = brand_key($3))
     AND ($4 IS NULL OR d.last_crawl_at >= $4)
     AND ($5 IS NULL OR d.last_crawl_at < $5)
   GROUP BY b.brand_key COLLATE "C", coalesce(d.state, '') COLLATE "C"
)
SELECT brand_key, brand, nullif(state_key, '') AS state, stores, stores_in_stock, products, products_in_stock, products_on_special,
       price_min, price_avg, price_max
  FROM brands
 WHERE ($6 IS NULL OR (-stores_in_stock, brand_key, state_key) > (-($6::numeric), $7, $8))
 ORDER BY -stores_in_stock, brand_key, state_key
 LIMIT $9
