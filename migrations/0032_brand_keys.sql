-- The key by which spellings of a brand are one: without case, invisible characters and doubled blanks, in composed form. Rust has the same
-- in crates/domain/src/brand.rs. What is shown stays as the platform writes it. Days of prices that were written before keep their keys; the
-- next analytics_refresh fills the views again.

DO $do$
BEGIN
  -- the database's own locale may know no letters but those of ASCII
  EXECUTE format($sql$
    CREATE FUNCTION brand_key(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $f$
      SELECT btrim(regexp_replace(lower(normalize(regexp_replace(name, '[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]', '', 'g'), NFC)%s),
                                  '[\s\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]+', ' ', 'g') COLLATE "default")
    $f$ $sql$, CASE WHEN EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN ' COLLATE "und-x-icu"' ELSE '' END);
END $do$;

DROP MATERIALIZED VIEW mv_store_summary;
DROP MATERIALIZED VIEW mv_brand_presence;
DROP MATERIALIZED VIEW mv_category_mix;
DELETE FROM view_refreshes WHERE name IN ('mv_store_summary', 'mv_brand_presence', 'mv_category_mix');

CREATE MATERIALIZED VIEW mv_store_summary AS
SELECT d.id AS dispensary_id, d.name AS dispensary_name, d.platform, d.state, d.city, d.crawl_enabled, d.last_crawl_at,
       count(p.id)                                              AS products,
       count(p.id) FILTER (WHERE p.is_in_stock)                 AS products_in_stock,
       count(p.id) FILTER (WHERE p.stock_status = 'oos')        AS products_out_of_stock,
       count(p.id) FILTER (WHERE p.stock_status = 'unknown')    AS products_stock_unknown,
       count(p.id) FILTER (WHERE p.is_in_stock AND p.is_on_special) AS products_on_special,
       count(DISTINCT brand_key(p.brand_name_raw)) FILTER (WHERE p.is_in_stock) AS brands_in_stock,
       count(DISTINCT p.category) FILTER (WHERE p.is_in_stock)  AS categories_in_stock,
       min(p.price_rec) FILTER (WHERE p.is_in_stock)            AS price_rec_min,
       round(avg(p.price_rec) FILTER (WHERE p.is_in_stock))::int AS price_rec_avg,
       max(p.price_rec) FILTER (WHERE p.is_in_stock)            AS price_rec_max,
       now() AS as_of
  FROM dispensaries d
  LEFT JOIN store_products p ON p.dispensary_id = d.id
 GROUP BY d.id
  WITH NO DATA;
CREATE UNIQUE INDEX idx_mv_store_summary_dispensary ON mv_store_summary (dispensary_id);

CREATE MATERIALIZED VIEW mv_brand_presence AS
SELECT p.dispensary_id,
       brand_key(p.brand_name_raw)                                AS brand_key,
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
 WHERE brand_key(p.brand_name_raw) <> ''
 GROUP BY p.dispensary_id, brand_key(p.brand_name_raw)
  WITH NO DATA;
CREATE UNIQUE INDEX mv_brand_presence_key ON mv_brand_presence (dispensary_id, brand_key);
CREATE INDEX mv_brand_presence_brand ON mv_brand_presence (brand_key);

CREATE MATERIALIZED VIEW mv_category_mix AS
SELECT p.dispensary_id,
       coalesce(p.category, '')                                      AS category,
       coalesce(brand_key(p.brand_name_raw), '')                  AS brand_key,
       count(*)                                                      AS products,
       count(*) FILTER (WHERE p.is_in_stock)                         AS products_in_stock,
       count(*) FILTER (WHERE p.is_in_stock AND p.is_on_special)     AS products_on_special,
       count(o.price) FILTER (WHERE p.is_in_stock)                   AS priced,
       coalesce(sum(o.price) FILTER (WHERE p.is_in_stock), 0)        AS price_sum,
       min(o.price) FILTER (WHERE p.is_in_stock)                     AS price_min,
       max(o.price) FILTER (WHERE p.is_in_stock)                     AS price_max
  FROM store_products p
 CROSS JOIN LATERAL (SELECT coalesce(least(p.price_rec, p.special_price_rec), least(p.price_med, p.special_price_med)) AS price) o
 GROUP BY p.dispensary_id, coalesce(p.category, ''), coalesce(brand_key(p.brand_name_raw), '')
  WITH NO DATA;
CREATE UNIQUE INDEX mv_category_mix_key ON mv_category_mix (dispensary_id, category, brand_key);
