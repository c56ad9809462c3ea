-- analytics/brand_presence.sql: brands by state, those of most stores first; a null filters nothing. Planned for its
-- values. $from and $to: when the stores were crawled. $after_…: the last row of the page before.
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
   WHERE ($state::text IS NULL OR d.state = upper($state))
     AND ($store::bigint IS NULL OR b.dispensary_id = $store)
     AND ($brand::text IS NULL OR b.brand_key = brand_key($brand))
     AND ($from::timestamptz IS NULL OR d.last_crawl_at >= $from)
     AND ($to::timestamptz IS NULL OR d.last_crawl_at < $to)
   GROUP BY b.brand_key COLLATE "C", coalesce(d.state, '') COLLATE "C"
)
SELECT brand_key, brand, nullif(state_key, '') AS state, stores, stores_in_stock, products, products_in_stock, products_on_special,
       price_min, price_avg, price_max
  FROM brands
 WHERE ($after_stores::bigint IS NULL OR (-stores_in_stock, brand_key, state_key) > (-($after_stores::numeric), $after_brand, $after_state))
 ORDER BY -stores_in_stock, brand_key, state_key
 LIMIT $rows
