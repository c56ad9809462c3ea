-- What each option of a product cost and how much of it there was, one row a change: prices by size over time, and units sold between
-- two crawls. No foreign keys, as for snapshots. It begins with what is known of every option now.
CREATE TABLE store_product_variant_history (
  store_product_id  bigint NOT NULL,
  option_label      text NOT NULL,
  nth               smallint NOT NULL,
  crawl_id          bigint NOT NULL,
  crawled_at        timestamptz NOT NULL,
  size_mg           bigint,
  size_ml           double precision,
  price_rec         integer,
  price_med         integer,
  special_price_rec integer,
  special_price_med integer,
  quantity          integer,
  quantity_censored boolean NOT NULL,
  is_in_stock       boolean NOT NULL,
  -- The product was on the menu without this option.
  gone              boolean NOT NULL,
  PRIMARY KEY (store_product_id, option_label, nth, crawl_id, crawled_at)
) PARTITION BY RANGE (crawled_at);

CREATE TABLE store_product_variant_history_default PARTITION OF store_product_variant_history DEFAULT;

INSERT INTO store_product_variant_history
SELECT v.store_product_id, v.option_label, v.nth, d.last_payload_id, d.last_payload_at, v.size_mg, v.size_ml, v.price_rec, v.price_med,
       v.special_price_rec, v.special_price_med, v.quantity, v.quantity_censored, v.is_in_stock, false
  FROM store_product_variants v
  JOIN store_products p ON p.id = v.store_product_id
  JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE d.last_payload_id IS NOT NULL
   AND d.last_payload_at IS NOT NULL;
