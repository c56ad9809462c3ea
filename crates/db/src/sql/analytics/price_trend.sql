-- analytics/price_trend.sql: sales day by day and category by category, in all stores; a null filters
-- nothing. Planned for its values. $1 state, $2 brand, $3 category, $4 and $5 first and last day, $6 and $7
-- day and category of the last row of the page before, $8 rows
SELECT t.day, t.category AS category_key, nullif(t.category, '') AS category,
       sum(t.products)::bigint AS products, sum(t.products_in_stock)::bigint AS products_in_stock,
       sum(t.products_on_special)::bigint AS products_on_special, min(t.price_min) AS price_min,
       round(sum(t.price_sum) / nullif(sum(t.priced), 0))::int AS price_avg, max(t.price_max) AS price_max
  FROM mv_price_trend t
 WHERE ($1 IS NULL OR t.state = upper($1))
   AND ($2 IS NULL OR t.brand_key = brand_key($2))
   AND ($3 IS NULL OR lower(t.category) = lower($3))
   AND t.day >= coalesce($4, (now() AT TIME ZONE 'UTC')::date - 30)
   AND ($5 IS NULL OR t.day <= $5)
   AND ($6 IS NULL OR (t.day, t.category COLLATE "C") > ($6, $7))
 GROUP BY t.day, t.category
 ORDER BY t.day, t.category COLLATE "C"
 LIMIT $8
