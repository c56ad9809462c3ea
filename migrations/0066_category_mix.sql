-- One row a store, category and brand: what it sells now. Without a brand or category: ''. The next analytics_refresh fills it, as
-- mv_brand_presence.
CREATE MATERIALIZED VIEW mv_category_mix AS
SELECT p.dispensary_id,
       coalesce(p.category, '')                                      AS category,
       coalesce(lower(btrim(p.brand_name_raw)), '')                  AS brand_key,
       count(*)                                                      AS products,
       count(*) FILTER (WHERE p.is_in_stock)                         AS products_in_stock,
       count(*) FILTER (WHERE p.is_in_stock AND p.is_on_special)     AS products_on_special,
       count(o.price) FILTER (WHERE p.is_in_stock)                   AS priced,
       coalesce(sum(o.price) FILTER (WHERE p.is_in_stock), 0)        AS price_sum,
       min(o.price) FILTER (WHERE p.is_in_stock)                     AS price_min,
       max(o.price) FILTER (WHERE p.is_in_stock)                     AS price_max
  FROM store_products p
 CROSS JOIN LATERAL (SELECT coalesce(least(p.price_rec, p.special_price_rec), least(p.price_med, p.special_price_med)) AS price) o
 GROUP BY p.dispensary_id, coalesce(p.category, ''), coalesce(lower(btrim(p.brand_name_raw)), '')
  WITH NO DATA;

CREATE UNIQUE INDEX mv_category_mix_key ON mv_category_mix (dispensary_id, category, brand_key);
