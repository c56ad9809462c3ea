-- One row a store and brand: how much of it the store sells now, and for how much. A brand is the same in any letter case. It is filled by
-- the next analytics_refresh: here it would be read from all products, while the migration holds its locks.
CREATE MATERIALIZED VIEW mv_brand_presence AS
SELECT p.dispensary_id,
       lower(btrim(p.brand_name_raw))                                AS brand_key,
       min(btrim(p.brand_name_raw) COLLATE "C")                      AS brand,
       count(*)                                                      AS products,
       count(*) FILTER (WHERE p.is_in_stock)                         AS products_in_stock,
       count(*) FILTER (WHERE p.is_in_stock AND p.is_on_special)     AS products_on_special,
       count(o.price) FILTER (WHERE p.is_in_stock)                   AS priced,
       coalesce(sum(o.price) FILTER (WHERE p.is_in_stock), 0)        AS price_sum,
       min(o.price) FILTER (WHERE p.is_in_stock)                     AS price_min,
       max(o.price) FILTER (WHERE p.is_in_stock)                     AS price_max
  FROM store_products p
 CROSS JOIN LATERAL (SELECT coalesce(least(p.price_rec, p.special_price_rec), least(p.price_med, p.special_price_med)) AS price) o
 WHERE btrim(p.brand_name_raw) <> ''
 GROUP BY p.dispensary_id, lower(btrim(p.brand_name_raw))
  WITH NO DATA;

-- REFRESH CONCURRENTLY needs it.
CREATE UNIQUE INDEX mv_brand_presence_key ON mv_brand_presence (dispensary_id, brand_key);
CREATE INDEX mv_brand_presence_brand ON mv_brand_presence (brand_key);
