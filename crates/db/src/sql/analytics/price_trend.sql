-- analytics/price_trend.sql: sales day by day and category by category, in all stores; a null filters nothing. Planned
-- for its values. $first and $last: days. $after_…: the last row of the page before.
SELECT t.day, t.category AS category_key, nullif(t.category, '') AS category,
       sum(t.products)::bigint AS products, sum(t.products_in_stock)::bigint AS products_in_stock,
       sum(t.products_on_special)::bigint AS products_on_special, min(t.price_min) AS price_min,
       round(sum(t.price_sum) / nullif(sum(t.priced), 0))::int AS price_avg, max(t.price_max) AS price_max
  FROM mv_price_trend t
 WHERE ($state::text IS NULL OR t.state = upper($state))
   AND ($brand::text IS NULL OR t.brand_key = brand_key($brand))
   AND ($category::text IS NULL OR lower(t.category) = lower($category))
   AND t.day >= coalesce($first, (now() AT TIME ZONE 'UTC')::date - 30)
   AND ($last::date IS NULL OR t.day <= $last)
   AND ($after_day::date IS NULL OR (t.day, t.category COLLATE "C") > ($after_day, $after_category))
 GROUP BY t.day, t.category
 ORDER BY t.day, t.category COLLATE "C"
 LIMIT $rows
