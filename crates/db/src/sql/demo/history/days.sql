-- demo/history/days.sql: products and prices by day, of the simulated snapshots, as analytics/write_day.sql
-- counts real ones
INSERT INTO price_days
       (dispensary_id, day, category, brand_key, products, products_in_stock, products_on_special, priced, price_sum, price_min, price_max)
SELECT p.dispensary_id, (now() AT TIME ZONE 'UTC')::date + s.crawl_id::int, coalesce(p.category, ''),
       coalesce(brand_key(p.brand_name_raw), ''), count(*), count(*) FILTER (WHERE s.is_in_stock),
       count(*) FILTER (WHERE s.is_in_stock AND s.is_on_special), count(o.price) FILTER (WHERE s.is_in_stock),
       coalesce(sum(o.price) FILTER (WHERE s.is_in_stock), 0), min(o.price) FILTER (WHERE s.is_in_stock),
       max(o.price) FILTER (WHERE s.is_in_stock)
  FROM store_product_snapshots s
  JOIN store_products p ON p.id = s.store_product_id
 CROSS JOIN LATERAL (SELECT coalesce(least(s.price_rec, s.special_price_rec), least(s.price_med, s.special_price_med)) AS price) o
 WHERE s.crawl_id < 0
 GROUP BY 1, 2, 3, 4
    ON CONFLICT DO NOTHING
