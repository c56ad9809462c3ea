-- analytics/write_day.sql: writes a day from the last crawl of each store on it whose products are stored. $1
-- day
WITH newest AS MATERIALIZED (
  SELECT DISTINCT ON (p.dispensary_id) p.dispensary_id, p.id, p.fetched_at
    FROM raw_crawl_payloads p
    JOIN dispensaries d ON d.id = p.dispensary_id
   WHERE p.fetched_at >= $1::date::timestamp AT TIME ZONE 'UTC'
     AND p.fetched_at < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
     AND (p.fetched_at, p.id) <= (d.last_payload_at, d.last_payload_id)
   ORDER BY p.dispensary_id, p.fetched_at DESC, p.id DESC
)
INSERT INTO price_days
       (dispensary_id, day, category, brand_key, products, products_in_stock, products_on_special, priced, price_sum, price_min, price_max)
SELECT n.dispensary_id, $1::date, coalesce(p.category, ''), coalesce(brand_key(p.brand_name_raw), ''),
       count(*),
       count(*) FILTER (WHERE s.is_in_stock),
       count(*) FILTER (WHERE s.is_in_stock AND s.is_on_special),
       count(o.price) FILTER (WHERE s.is_in_stock),
       coalesce(sum(o.price) FILTER (WHERE s.is_in_stock), 0),
       min(o.price) FILTER (WHERE s.is_in_stock),
       max(o.price) FILTER (WHERE s.is_in_stock)
  FROM newest n
  JOIN store_product_snapshots s
    ON s.crawl_id = n.id AND s.crawled_at = n.fetched_at
   AND s.crawled_at >= $1::date::timestamp AT TIME ZONE 'UTC'
   AND s.crawled_at < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
   -- snapshots are in the order of their crawls: block ranges leave out the others
   AND s.crawl_id BETWEEN (SELECT min(id) FROM newest) AND (SELECT max(id) FROM newest)
  JOIN store_products p ON p.id = s.store_product_id
 CROSS JOIN LATERAL (SELECT coalesce(least(s.price_rec, s.special_price_rec), least(s.price_med, s.special_price_med)) AS price) o
 GROUP BY n.dispensary_id, coalesce(p.category, ''), coalesce(brand_key(p.brand_name_raw), '');
