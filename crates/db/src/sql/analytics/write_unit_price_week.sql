-- analytics/write_unit_price_week.sql: writes the present week from the options of today; rows that are there already change only
-- where they differ
WITH brands AS MATERIALIZED (
  SELECT b.name, nullif(brand_key(b.name), '') AS brand_key
    FROM (SELECT DISTINCT brand_name_raw AS name FROM store_products WHERE brand_name_raw IS NOT NULL) b
), options AS (
  SELECT p.dispensary_id, nullif(d.state, '') AS state, p.canonical_category AS category, b.brand_key,
         btrim(b.name) COLLATE "C" AS brand, CASE WHEN u.price IS NOT NULL THEN u.unit END AS unit, u.price
    FROM dispensaries d
    JOIN store_products p ON p.dispensary_id = d.id AND p.is_in_stock
    JOIN store_product_variants o ON o.store_product_id = p.id AND o.is_in_stock
    LEFT JOIN brands b ON b.name = p.brand_name_raw
   CROSS JOIN LATERAL (
           SELECT unit_of(o.unit_basis) AS unit,
                  compared_price(o.unit_basis, coalesce(o.rec_per_g, o.med_per_g), coalesce(o.rec_per_ml, o.med_per_ml),
                                 coalesce(o.rec_per_mg_thc, o.med_per_mg_thc)) AS price) u
   WHERE d.last_complete_at > now() - interval '7 days'
), grouped AS (
  SELECT state, category, brand_key, unit, count(DISTINCT dispensary_id) AS stores, count(*) AS options, min(brand) AS brand,
         percentile_cont('{0,0.25,0.5,0.75,1}'::float8[]) WITHIN GROUP (ORDER BY price::float8) AS prices, grouping(brand_key) AS of_all_brands,
         grouping(unit) AS of_all_units
    FROM options
   GROUP BY CUBE (state, category, brand_key, unit)
  HAVING (grouping(state) = 1 OR state IS NOT NULL)
     AND (grouping(category) = 1 OR category IS NOT NULL)
     AND (grouping(brand_key) = 1 OR brand_key IS NOT NULL)
     AND (grouping(unit) = 1 OR unit IS NOT NULL)
), fresh AS MATERIALIZED (
  SELECT date_trunc('week', now() AT TIME ZONE 'UTC')::date AS week, coalesce(state, '') AS state, coalesce(category, '') AS category,
         coalesce(brand_key, '') AS brand_key, coalesce(unit, '') AS unit, CASE WHEN of_all_brands = 0 THEN brand END AS brand, stores, options,
         -- of all options together there is no price: they are counted in different units
         CASE WHEN of_all_units = 0 THEN prices END AS prices
    FROM grouped
), gone AS (
  DELETE FROM unit_price_weeks w
   WHERE w.week = date_trunc('week', now() AT TIME ZONE 'UTC')::date
     AND NOT EXISTS (SELECT FROM fresh f WHERE (f.state, f.category, f.brand_key, f.unit) = (w.state, w.category, w.brand_key, w.unit))
)
INSERT INTO unit_price_weeks AS w
       (week, state, category, brand_key, unit, brand, stores, options, price_min, price_p25, price_median, price_p75, price_max)
SELECT week, state, category, brand_key, unit, brand, stores, options, round(prices[1]::numeric), round(prices[2]::numeric),
       round(prices[3]::numeric), round(prices[4]::numeric), round(prices[5]::numeric)
  FROM fresh
    ON CONFLICT (week, state, category, brand_key, unit) DO UPDATE
   SET brand = excluded.brand, stores = excluded.stores, options = excluded.options, price_min = excluded.price_min,
       price_p25 = excluded.price_p25, price_median = excluded.price_median, price_p75 = excluded.price_p75, price_max = excluded.price_max
 WHERE (w.brand, w.stores, w.options, w.price_min, w.price_p25, w.price_median, w.price_p75, w.price_max)
       IS DISTINCT FROM (excluded.brand, excluded.stores, excluded.options, excluded.price_min, excluded.price_p25, excluded.price_median,
                         excluded.price_p75, excluded.price_max);
