-- analytics/price_changes.sql: options whose price differs from that of a time, the largest difference first; a null filters nothing.
-- Planned for its values, so that one of the branches of looked remains: the changes of $products; those of each of $few_stores; or the
-- largest changes of each day, of which $stores and $words (a tsquery) leave some. $max_looked: the maximum number of changes of a branch
-- that looks day by day, of each day no more than twice its part; the $max_candidates largest ones of those are compared.
WITH compared_with AS MATERIALIZED (
  SELECT greatest(coalesce($since::timestamptz, now() - interval '7 days'), now() - make_interval(days => $max_days)) AS since
), days AS MATERIALIZED (
  -- no day takes the place of all others
  SELECT day::date AS day, greatest($max_looked / 20, 2 * $max_looked / count(*) OVER ()) AS most
    FROM compared_with, generate_series((since AT TIME ZONE 'UTC')::date::timestamp, (now() AT TIME ZONE 'UTC')::date, interval '1 day') AS day
), changes AS NOT MATERIALIZED (
  SELECT c.store_product_id, c.option_label, c.nth, c.changed_at, c.size, c.day, c.dispensary_id
    FROM daily_price_changes c
   WHERE c.changed_at > (SELECT since FROM compared_with)
     AND ($state::text IS NULL OR c.state = upper($state))
     AND ($brand::text IS NULL OR c.brand_key = brand_key($brand))
     AND ($category::text IS NULL OR c.canonical_category = lower(btrim($category)))
), looked AS MATERIALIZED (
  SELECT c.*
    FROM unnest($products::bigint[]) AS p (id)
   CROSS JOIN LATERAL (
           SELECT *
             FROM changes c
            WHERE c.store_product_id = p.id
              AND c.day >= (SELECT min(day) FROM days)
           OFFSET 0) c
   UNION ALL
  SELECT c.*
    FROM days d
   CROSS JOIN LATERAL (
           SELECT c.*
             FROM unnest($few_stores::bigint[]) AS s (id)
            CROSS JOIN LATERAL (SELECT * FROM changes c WHERE c.dispensary_id = s.id AND c.day = d.day ORDER BY c.size DESC LIMIT d.most) c
            ORDER BY c.size DESC
            LIMIT d.most) c
   WHERE $products IS NULL
   UNION ALL
  SELECT c.*
    FROM days d
   CROSS JOIN LATERAL (SELECT * FROM changes c WHERE c.day = d.day ORDER BY c.size DESC LIMIT d.most) c
   WHERE $products IS NULL
     AND $few_stores IS NULL
), candidates AS MATERIALIZED (
  SELECT *
    FROM looked c
   WHERE ($stores::bigint[] IS NULL OR c.dispensary_id = ANY ($stores))
     AND ($words::text IS NULL OR (SELECT s.words @@ $words::tsquery FROM product_search s WHERE s.product_id = c.store_product_id))
   ORDER BY c.size DESC
   LIMIT $max_candidates
), options AS MATERIALIZED (
  SELECT store_product_id, option_label, nth, max(changed_at) AS changed_at FROM candidates GROUP BY store_product_id, option_label, nth
), compared AS (
  SELECT p.id AS product_id, p.dispensary_id AS store_id, p.name_raw AS product, p.brand_name_raw AS brand, p.category,
         p.canonical_category, o.option_label, o.nth, o.is_in_stock,
         b.price AS price_before, n.price, n.price - b.price AS cents,
         (100.0 * (n.price - b.price) / nullif(b.price, 0))::float8 AS percent,
         unit_of(o.unit_basis) AS unit, b.unit_price AS unit_price_before, n.unit_price, c.changed_at
    FROM options c
   CROSS JOIN compared_with w
   CROSS JOIN LATERAL (SELECT * FROM store_products p WHERE p.id = c.store_product_id OFFSET 0) p
   CROSS JOIN LATERAL (
           SELECT *
             FROM store_product_variants o
            WHERE (o.store_product_id, o.option_label, o.nth) = (c.store_product_id, c.option_label, c.nth) OFFSET 0) o
   CROSS JOIN LATERAL (
           SELECT coalesce(least(o.price_rec, o.special_price_rec), least(o.price_med, o.special_price_med)) AS price,
                  compared_price(o.unit_basis, coalesce(o.rec_per_g, o.med_per_g), coalesce(o.rec_per_ml, o.med_per_ml),
                                 coalesce(o.rec_per_mg_thc, o.med_per_mg_thc)) AS unit_price) n
   CROSS JOIN LATERAL (
           SELECT h.gone, coalesce(least(h.price_rec, h.special_price_rec), least(h.price_med, h.special_price_med)) AS price,
                  compared_price(o.unit_basis, coalesce(h.rec_per_g, h.med_per_g), coalesce(h.rec_per_ml, h.med_per_ml),
                                 coalesce(h.rec_per_mg_thc, h.med_per_mg_thc)) AS unit_price
             FROM store_product_variant_history h
            WHERE (h.store_product_id, h.option_label, h.nth) = (c.store_product_id, c.option_label, c.nth) AND h.crawled_at <= w.since
            ORDER BY h.crawled_at DESC, h.crawl_id DESC
            LIMIT 1) b
   WHERE NOT b.gone
     AND ($in_stock::boolean IS NULL OR o.is_in_stock = $in_stock)
     AND ($on_special::boolean IS NULL OR p.is_on_special = $on_special)
     AND ($min_price::int IS NULL OR n.price >= $min_price)
     AND ($max_price::int IS NULL OR n.price <= $max_price)
     AND ($max_unit_price::bigint IS NULL OR unit_of(o.unit_basis) = 'g' AND n.unit_price <= $max_unit_price)
), shown AS (
  SELECT *, CASE $sort::text WHEN 'cents' THEN -abs(cents) WHEN 'newest' THEN -extract(epoch FROM changed_at)::float8
                             ELSE -coalesce(abs(percent), 1e9) END AS place
    FROM compared
   WHERE CASE $direction::text WHEN 'drop' THEN cents < 0 WHEN 'rise' THEN cents > 0 ELSE cents <> 0 END
   ORDER BY place, product_id, option_label, nth
   LIMIT $rows
)
SELECT t.truncated, json_time(t.since) AS since, s.*, d.name AS store, d.city, d.state, json_time(s.changed_at) AS last_changed_at
  FROM (SELECT w.since, (SELECT count(*) >= $max_candidates FROM candidates) OR EXISTS (
                 SELECT
                   FROM (SELECT day, count(*) AS changes FROM looked GROUP BY day) of_day
                   JOIN days d USING (day)
                  WHERE $products IS NULL
                    AND of_day.changes >= d.most) AS truncated
          FROM compared_with w) t
  LEFT JOIN (shown s JOIN dispensaries d ON d.id = s.store_id) ON true
 ORDER BY s.place, s.product_id, s.option_label, s.nth
