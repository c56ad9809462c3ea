-- analytics/price_changes.sql: options whose price differs from that of a time, the largest difference first; a null filters nothing.
-- Planned for its values. The $max_candidates largest changes since then are looked at,
-- of each day no more than twice its part.
WITH compared_with AS MATERIALIZED (
  SELECT greatest(coalesce($since::timestamptz, now() - interval '7 days'), now() - make_interval(days => $max_days)) AS since
), days AS (
  SELECT day::date AS day, count(*) OVER () AS days
    FROM compared_with, generate_series((since AT TIME ZONE 'UTC')::date::timestamp, (now() AT TIME ZONE 'UTC')::date, interval '1 day') AS day
), candidates AS MATERIALIZED (
  SELECT c.*
    FROM days d
   CROSS JOIN LATERAL (
           SELECT c.store_product_id, c.option_label, c.nth, c.changed_at, c.size
             FROM daily_price_changes c
            WHERE c.day = d.day
              AND c.changed_at > (SELECT since FROM compared_with)
              AND ($store::bigint IS NULL OR c.dispensary_id = $store)
              AND ($state::text IS NULL OR c.state = upper($state))
              AND ($brand::text IS NULL OR c.brand_key = brand_key($brand))
              AND ($category::text IS NULL OR c.canonical_category = lower(btrim($category)))
            ORDER BY c.size DESC
            -- no day takes the place of all others
            LIMIT greatest($max_candidates / 20, 2 * $max_candidates / d.days)) c
   ORDER BY c.size DESC
   LIMIT $max_candidates
), options AS MATERIALIZED (
  SELECT store_product_id, option_label, nth, max(changed_at) AS changed_at FROM candidates GROUP BY store_product_id, option_label, nth
), compared AS (
  SELECT p.id, p.dispensary_id, p.name_raw, p.brand_name_raw, p.category, p.canonical_category, o.option_label, o.nth, o.is_in_stock,
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
   ORDER BY place, id, option_label, nth
   LIMIT $rows
)
SELECT t.truncated, json_time(t.since) AS since, s.*, d.name AS store_name, d.city, d.state, json_time(s.changed_at) AS last_changed_at
  FROM (SELECT since, (SELECT count(*) >= $max_candidates FROM candidates) AS truncated FROM compared_with) t
  LEFT JOIN (shown s JOIN dispensaries d ON d.id = s.dispensary_id) ON true
 ORDER BY s.place, s.id, s.option_label, s.nth
