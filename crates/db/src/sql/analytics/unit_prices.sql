-- analytics/unit_prices.sql: prices by unit, those of most stores first, or week by week; a null filters nothing. Planned for
-- its values. $week: a Monday; null: the newest week. $after_…: the last row of the page before.
WITH newest AS (SELECT max(week) AS week FROM unit_price_weeks), chosen AS (
  SELECT a.*, '2000-01-03'::date - a.week AS age
    FROM unit_price_weeks a
   WHERE a.unit = ''
     AND CASE WHEN $by = 'week' THEN a.week <= coalesce($week::date, (SELECT week FROM newest))
                               ELSE a.week = coalesce($week::date, (SELECT week FROM newest)) END
     AND CASE WHEN $by = 'state' AND $state::text IS NULL THEN a.state <> '' ELSE a.state = coalesce(upper($state), '') END
     AND CASE WHEN $by = 'category' AND $category::text IS NULL THEN a.category <> '' ELSE a.category = coalesce(lower(btrim($category)), '') END
     AND CASE WHEN $by = 'brand' AND $brand::text IS NULL THEN a.brand_key <> '' ELSE a.brand_key = coalesce(brand_key($brand), '') END
), shown AS MATERIALIZED (
  SELECT *
    FROM chosen
   WHERE $after_age::int IS NULL
      OR (age, -stores, state COLLATE "C", category COLLATE "C", brand_key COLLATE "C")
         > ($after_age, -$after_stores::int, $after_state, $after_category, $after_brand)
   ORDER BY age, -stores, state COLLATE "C", category COLLATE "C", brand_key COLLATE "C"
   LIMIT $rows
)
SELECT c.age, c.week AS monday, c.week::text AS week, nullif(c.state, '') AS state, nullif(c.category, '') AS category, c.brand_key, c.brand, c.stores,
       coalesce(c.stores / nullif(m.stores, 0)::float8, 0) AS share, $unit::text AS unit, coalesce(u.options, 0) AS options,
       u.price_min, u.price_p25, u.price_median, u.price_p75, u.price_max
  FROM shown c
 -- OFFSET 0: of each row by its key, whatever the statistics say
  LEFT JOIN LATERAL (
         SELECT *
           FROM unit_price_weeks u
          WHERE (u.week, u.state, u.category, u.brand_key, u.unit) = (c.week, c.state, c.category, c.brand_key, $unit) OFFSET 0) u ON true
  LEFT JOIN LATERAL (
         SELECT stores
           FROM unit_price_weeks m
          WHERE (m.week, m.state, m.category, m.brand_key, m.unit) = (c.week, c.state, '', '', '') OFFSET 0) m ON true
 ORDER BY c.age, -c.stores, c.state COLLATE "C", c.category COLLATE "C", c.brand_key COLLATE "C"
