-- analytics/sales.sql: sales of the days t, day by day and category by category
SELECT t.day, t.category AS category_key, nullif(t.category, '') AS category,
       sum(t.products)::bigint AS products, sum(t.products_in_stock)::bigint AS products_in_stock,
       sum(t.products_on_special)::bigint AS products_on_special, min(t.price_min) AS price_min,
       round(sum(t.price_sum) / nullif(sum(t.priced), 0))::int AS price_avg, max(t.price_max) AS price_max
