-- demo_history/snapshots.sql: simulated snapshots of every product, one a day for 7 days, from its price
-- now; crawl_id below 0 marks them. $1 seed
WITH moments AS (
  SELECT n, now() - make_interval(days => n) AS crawled_at FROM generate_series(7, 1, -1) AS n
)
INSERT INTO store_product_snapshots
       (store_product_id, crawl_id, crawled_at, price_rec, price_med, special_price_rec, special_price_med, is_on_special, quantity,
        quantity_censored, is_in_stock, stock_status, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit)
SELECT p.id, -m.n, m.crawled_at - make_interval(secs => p.dispensary_id % 600),
       (p.price_rec * f.price)::int, (p.price_med * f.price)::int, (p.special_price_rec * f.price)::int, (p.special_price_med * f.price)::int,
       p.is_on_special, CASE WHEN f.is_sold_out THEN 0 ELSE least(p.quantity + f.sold_since, 25) END, p.quantity_censored,
       p.is_in_stock AND NOT f.is_sold_out, CASE WHEN f.is_sold_out THEN 'oos' ELSE p.stock_status END,
       p.thc_min, p.thc_max, p.thc_unit, p.cbd_min, p.cbd_max, p.cbd_unit
  FROM moments m
 CROSS JOIN store_products p
 -- a price holds for two days and more, then it moves by up to an eighth; stock moves each time
 CROSS JOIN LATERAL (
   SELECT 1 + ((hashint8extended(p.id, $1::bigint + (m.n + p.id % 3) / 3) & 7) - 3.5) / 28 * ((m.n + p.id % 3) / 3 > 0)::int AS price,
          (hashint8extended(p.id, $1 + 1000 + m.n) & 7)::int AS sold_since,
          p.is_in_stock AND (hashint8extended(p.id, $1 + 2000 + m.n) & 15) = 0 AS is_sold_out) f
