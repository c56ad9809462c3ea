-- demo/history/weeks.sql: simulated prices by unit of the 12 weeks before this one, which lead to its own. $1 seed
INSERT INTO unit_price_weeks
       (week, state, category, brand_key, unit, brand, stores, options, price_min, price_p25, price_median, price_p75, price_max)
SELECT w.week - 7 * m.n, w.state, w.category, w.brand_key, w.unit, w.brand,
       -- a brand is on fewer menus then, and there are as many menus as now
       CASE w.brand_key WHEN '' THEN w.stores ELSE greatest(1, w.stores - (m.n + (m.move & 3)) * w.stores / 40) END, w.options,
       w.price_min * m.price, w.price_p25 * m.price, w.price_median * m.price, w.price_p75 * m.price, w.price_max * m.price
  FROM unit_price_weeks w
 CROSS JOIN LATERAL (
         SELECT n, move, 1 + ((move >> 2 & 7) - 3.5) / 100 + n * ((hashtextextended(w.brand_key, $1::bigint) & 7) - 3.5) / 400 AS price
           FROM generate_series(1, 12) AS n
          CROSS JOIN LATERAL (SELECT hashtextextended(w.brand_key || n, $1)) AS h(move)) m
 WHERE w.week = date_trunc('week', now() AT TIME ZONE 'UTC')::date
    ON CONFLICT (week, state, category, brand_key, unit) DO NOTHING
