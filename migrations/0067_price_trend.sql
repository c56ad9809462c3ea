-- What was sold on each day (UTC), by the last crawl of each store on it. analytics_refresh writes the days since its last run: a view over all
-- snapshots would read them whole each time.
CREATE TABLE price_days (
  dispensary_id       bigint NOT NULL,
  day                 date NOT NULL,
  -- Without a category or brand: ''. A brand is in small letters.
  category            text NOT NULL,
  brand_key           text NOT NULL,
  products            integer NOT NULL,
  products_in_stock   integer NOT NULL,
  products_on_special integer NOT NULL,
  -- Of those in stock, what has a price.
  priced              integer NOT NULL,
  price_sum           bigint NOT NULL,
  price_min           integer,
  price_max           integer,
  PRIMARY KEY (dispensary_id, day, category, brand_key)
);

-- The same of all stores of a state together. Without a state: ''.
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
