-- analytics/price_trend_of_store.sql: sales of a store day by day and category by category; a null filters
-- nothing. Planned for its values. $1 store, $2 state that it must be in, $3 brand, $4 category, $5 and $6
-- first and last day, $7 and $8 day and category of the last row of the page before, $9 rows
SELECT t.day, t.category AS category_key, nullif(t.category, '') AS category,
       sum(t.products)::bigint AS products, sum(t.products_in_stock)::bigint AS products_in_stock,
       sum(t.products_on_special)::bigint AS products_on_special, min(t.price_min) AS price_min,
       round(sum(t.price_sum) / nullif(sum(t.priced), 0))::int AS price_avg, max(t.price_max) AS price_max
  FROM price_days t
  JOIN dispensaries d ON d.id = t.dispensary_id
 WHERE t.dispensary_id = $1
   AND ($2 IS NULL OR d.state = upper($2))
   AND ($3 IS NULL OR t.brand_key = brand_key($3))
   AND ($4 IS NULL OR lower(t.category) = lower($4))
   AND t.day >= coalesce($5, (now() AT TIME ZONE 'UTC')::date - 30)
   AND ($6 IS NULL OR t.day <= $6)
   AND ($7 IS NULL OR (t.day, t.category COLLATE "C") > ($7, $8))
 GROUP BY t.day, t.category
 ORDER BY t.day, t.category COLLATE "C"
 LIMIT $9
