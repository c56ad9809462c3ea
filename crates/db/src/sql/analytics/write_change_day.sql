-- analytics/write_change_day.sql: writes the options whose price changed on a day; those that are there already change only
-- where they differ. $1 day
WITH batches AS MATERIALIZED (
  SELECT b.crawl_id, b.crawled_at, b.dispensary_id
    FROM change_batches b
   WHERE b.seq IS NOT NULL
     AND b.crawled_at >= $1::date::timestamp AT TIME ZONE 'UTC'
     AND b.crawled_at < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
), changed AS (
  SELECT c.store_product_id, c.option_label, c.nth, b.dispensary_id, max(c.crawled_at) AS changed_at,
         coalesce(max(abs(c.percent)), 0) AS size
    FROM batches b
   CROSS JOIN LATERAL (SELECT * FROM product_changes c WHERE c.crawl_id = b.crawl_id AND c.crawled_at = b.crawled_at OFFSET 0) c
   WHERE c.kind IN ('price_drop', 'price_rise') AND c.option_label IS NOT NULL
   GROUP BY c.store_product_id, c.option_label, c.nth, b.dispensary_id
)
INSERT INTO daily_price_changes AS w
       (day, store_product_id, changed_at, dispensary_id, nth, size, option_label, state, canonical_category, brand_key)
SELECT $1::date, c.store_product_id, c.changed_at, c.dispensary_id, c.nth, c.size, c.option_label, d.state, p.canonical_category,
       brand_key(p.brand_name_raw)
  FROM changed c
  JOIN dispensaries d ON d.id = c.dispensary_id
 CROSS JOIN LATERAL (SELECT * FROM store_products p WHERE p.id = c.store_product_id OFFSET 0) p
    ON CONFLICT (day, store_product_id, option_label, nth) DO UPDATE
   SET changed_at = excluded.changed_at, size = excluded.size, state = excluded.state,
       canonical_category = excluded.canonical_category, brand_key = excluded.brand_key
 WHERE (w.changed_at, w.size, w.state, w.canonical_category, w.brand_key)
       IS DISTINCT FROM (excluded.changed_at, excluded.size, excluded.state, excluded.canonical_category, excluded.brand_key);
