-- One row a store: what it sells now. analytics_refresh refreshes it concurrently, which needs the unique index. It stands in a
-- migration, not among the objects: to make it again is to read all products.
CREATE MATERIALIZED VIEW IF NOT EXISTS mv_store_summary AS
SELECT d.id AS dispensary_id, d.name AS dispensary_name, d.platform, d.state, d.city, d.crawl_enabled, d.last_crawl_at,
       count(p.id)                                              AS products,
       count(p.id) FILTER (WHERE p.is_in_stock)                 AS products_in_stock,
       count(p.id) FILTER (WHERE p.stock_status = 'oos')        AS products_out_of_stock,
       count(p.id) FILTER (WHERE p.stock_status = 'unknown')    AS products_stock_unknown,
       count(p.id) FILTER (WHERE p.is_in_stock AND p.is_on_special) AS products_on_special,
       count(DISTINCT p.brand_name_raw) FILTER (WHERE p.is_in_stock) AS brands_in_stock,
       count(DISTINCT p.category) FILTER (WHERE p.is_in_stock)  AS categories_in_stock,
       min(p.price_rec) FILTER (WHERE p.is_in_stock)            AS price_rec_min,
       round(avg(p.price_rec) FILTER (WHERE p.is_in_stock))::int AS price_rec_avg,
       max(p.price_rec) FILTER (WHERE p.is_in_stock)            AS price_rec_max,
       now() AS as_of
  FROM dispensaries d
  LEFT JOIN store_products p ON p.dispensary_id = d.id
 GROUP BY d.id;

CREATE UNIQUE INDEX IF NOT EXISTS idx_mv_store_summary_dispensary ON mv_store_summary (dispensary_id);

-- It was an object until now.
DELETE FROM schema_objects WHERE name = '00_store_summary';
