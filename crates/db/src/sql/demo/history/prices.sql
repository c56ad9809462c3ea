-- demo/history/prices.sql: simulated prices and stock of 7 days: a snapshot of every product a day, and a row
-- for each change of an option. Both come from the same movements of the rows as they are now, so that they
-- agree, and lead to them; crawl_id below 0 marks them. $1 seed
WITH moves AS MATERIALIZED (
  SELECT p.id AS store_product_id, m.n, now() - make_interval(days => m.n, secs => p.dispensary_id % 600) AS crawled_at,
         -- a price holds for two days and more, then it moves by up to an eighth; stock moves each time
         1 + ((hashint8extended(p.id, $1::bigint + (m.n + p.id % 3) / 3) & 7) - 3.5) / 28 * ((m.n + p.id % 3) / 3 > 0)::int AS price,
         (hashint8extended(p.id, $1 + 1000 + m.n) & 7)::int AS sold_since,
         p.is_in_stock AND (hashint8extended(p.id, $1 + 2000 + m.n) & 15) = 0 AS is_sold_out
    FROM store_products p
   CROSS JOIN generate_series(1, 7) AS m(n)
), options AS MATERIALIZED (
  SELECT m.store_product_id, m.n, m.crawled_at, v.option_label, v.nth, v.size_mg, v.size_ml,
         (v.price_rec * m.price)::int AS price_rec, (v.price_med * m.price)::int AS price_med,
         (v.special_price_rec * m.price)::int AS special_price_rec, (v.special_price_med * m.price)::int AS special_price_med,
         (v.rec_per_g * m.price)::bigint AS rec_per_g, (v.med_per_g * m.price)::bigint AS med_per_g,
         (v.rec_per_ml * m.price)::bigint AS rec_per_ml, (v.med_per_ml * m.price)::bigint AS med_per_ml,
         (v.rec_per_mg_thc * m.price)::bigint AS rec_per_mg_thc, (v.med_per_mg_thc * m.price)::bigint AS med_per_mg_thc, v.unit_basis,
         -- below the number from which a platform reports no more
         CASE WHEN m.is_sold_out THEN least(v.quantity, 0) ELSE greatest(v.quantity, least(v.quantity + m.sold_since, 24)) END AS quantity,
         v.quantity_censored AND NOT m.is_sold_out AS quantity_censored, v.is_in_stock AND NOT m.is_sold_out AS is_in_stock
    FROM moves m JOIN store_product_variants v USING (store_product_id)
), changed AS (
  SELECT o.*, (o.price_rec, o.price_med, o.special_price_rec, o.special_price_med, o.quantity, o.is_in_stock) IS DISTINCT FROM
              lag((o.price_rec, o.price_med, o.special_price_rec, o.special_price_med, o.quantity, o.is_in_stock)) OVER w AS is_change
    FROM options o
  WINDOW w AS (PARTITION BY o.store_product_id, o.option_label, o.nth ORDER BY o.n DESC)
), written AS (
  INSERT INTO store_product_variant_history
         (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec, price_med, special_price_rec,
          special_price_med, quantity, quantity_censored, is_in_stock, gone, rec_per_g, med_per_g, rec_per_ml, med_per_ml,
          rec_per_mg_thc, med_per_mg_thc, unit_basis)
  SELECT c.store_product_id, c.option_label, c.nth, -c.n, c.crawled_at, c.size_mg, c.size_ml, c.price_rec, c.price_med, c.special_price_rec,
         c.special_price_med, c.quantity, c.quantity_censored, c.is_in_stock, false,
         c.rec_per_g, c.med_per_g, c.rec_per_ml, c.med_per_ml, c.rec_per_mg_thc, c.med_per_mg_thc, c.unit_basis
    FROM changed c WHERE c.is_change
), stock AS (
  SELECT o.store_product_id, o.n, sum(o.quantity)::int AS quantity, bool_or(o.quantity_censored) AS quantity_censored
    FROM options o GROUP BY 1, 2
)
INSERT INTO store_product_snapshots
       (store_product_id, crawl_id, crawled_at, price_rec, price_med, special_price_rec, special_price_med, is_on_special, quantity,
        quantity_censored, is_in_stock, stock_status, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit)
SELECT p.id, -m.n, m.crawled_at,
       (p.price_rec * m.price)::int, (p.price_med * m.price)::int, (p.special_price_rec * m.price)::int, (p.special_price_med * m.price)::int,
       p.is_on_special, s.quantity, coalesce(s.quantity_censored, false), p.is_in_stock AND NOT m.is_sold_out,
       CASE WHEN m.is_sold_out THEN 'oos' ELSE p.stock_status END, p.thc_min, p.thc_max, p.thc_unit, p.cbd_min, p.cbd_max, p.cbd_unit
  FROM moves m
  JOIN store_products p ON p.id = m.store_product_id
  LEFT JOIN stock s USING (store_product_id, n)
 ORDER BY m.n DESC, m.store_product_id
