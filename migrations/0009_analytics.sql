-- One row per store: the products that it sells now. analytics_refresh refreshes the view concurrently, which needs the unique index.
CREATE MATERIALIZED VIEW mv_store_summary AS
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

CREATE UNIQUE INDEX idx_mv_store_summary_dispensary ON mv_store_summary (dispensary_id);

-- When each materialized view was last refreshed. With that time in the rows of a view, every refresh would write all of them.
CREATE TABLE view_refreshes (
  name         text PRIMARY KEY,
  refreshed_at timestamptz NOT NULL
);

-- One row per store and brand: how many of its products the store sells now, and at which prices. The letter case of a brand does not
-- matter. The next analytics_refresh fills the view: filling it here would read all products while the migration holds its locks.
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

-- REFRESH MATERIALIZED VIEW CONCURRENTLY needs this index.
CREATE UNIQUE INDEX mv_brand_presence_key ON mv_brand_presence (dispensary_id, brand_key);
CREATE INDEX mv_brand_presence_brand ON mv_brand_presence (brand_key);

-- One row per store, category and brand: the products that the store sells now. '' = without a brand or category. The next
-- analytics_refresh fills the view, as it fills mv_brand_presence.
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

-- Products and prices of each day (UTC), from each store's last crawl on that day. analytics_refresh writes the days since its last run: a
-- view over all snapshots would read all of them at each refresh.
CREATE TABLE price_days (
  dispensary_id       bigint NOT NULL,
  day                 date NOT NULL,
  -- '' = without a category or brand. The brand is in lower case.
  category            text NOT NULL,
  brand_key           text NOT NULL,
  products            integer NOT NULL,
  products_in_stock   integer NOT NULL,
  products_on_special integer NOT NULL,
  -- Products in stock that have a price.
  priced              integer NOT NULL,
  price_sum           bigint NOT NULL,
  price_min           integer,
  price_max           integer,
  PRIMARY KEY (dispensary_id, day, category, brand_key)
);

-- The same for all stores of a state together. '' = without a state.
CREATE MATERIALIZED VIEW mv_price_trend AS
SELECT t.day, coalesce(d.state, '') AS state, t.category, t.brand_key,
       sum(t.products)            AS products,
       sum(t.products_in_stock)   AS products_in_stock,
       sum(t.products_on_special) AS products_on_special,
       sum(t.priced)              AS priced,
       sum(t.price_sum)           AS price_sum,
       min(t.price_min)           AS price_min,
       max(t.price_max)           AS price_max
  FROM price_days t
  JOIN dispensaries d ON d.id = t.dispensary_id
 GROUP BY t.day, coalesce(d.state, ''), t.category, t.brand_key
  WITH NO DATA;

CREATE UNIQUE INDEX mv_price_trend_key ON mv_price_trend (day, state, category, brand_key);
