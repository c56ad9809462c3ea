-- Changes of prices, specials, stock and products between the crawls of a store.

-- The next whole menu of such a store is only compared with by later ones: the store is new, was closed, or has another menu.
ALTER TABLE dispensaries ADD COLUMN needs_baseline boolean NOT NULL DEFAULT false;
ALTER TABLE dispensaries ALTER COLUMN needs_baseline SET DEFAULT true;
UPDATE dispensaries SET needs_baseline = true WHERE last_complete_at IS NULL;

-- The changes of one crawl. A crawl without any has no row, unless it is a baseline.
CREATE TABLE change_batches (
  crawl_id      bigint PRIMARY KEY,
  dispensary_id bigint NOT NULL REFERENCES dispensaries ON DELETE CASCADE,
  crawled_at    timestamptz NOT NULL,
  count         integer NOT NULL,
  baseline      boolean NOT NULL,
  seq           bigint UNIQUE,        -- place in the feed; null until the publisher sees the committed row
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX change_batches_unpublished ON change_batches (crawled_at, crawl_id) WHERE seq IS NULL;
CREATE INDEX change_batches_store ON change_batches (dispensary_id, seq);
CREATE INDEX change_batches_age ON change_batches (created_at);

CREATE TABLE product_changes (
  crawl_id         bigint NOT NULL,
  n                integer NOT NULL,       -- place in the batch, from 0
  store_product_id bigint NOT NULL,
  option_label     text,                   -- null: a change of the product
  nth              smallint,
  kind             text NOT NULL,
  old              jsonb,                  -- the option before, as far as the change concerns it
  new              jsonb,
  cents            integer,                -- new minus old price
  percent          double precision,       -- cents of the old price
  crawled_at       timestamptz NOT NULL,
  PRIMARY KEY (crawl_id, n, crawled_at)
) PARTITION BY RANGE (crawled_at);

CREATE TABLE product_changes_default PARTITION OF product_changes DEFAULT;

-- One row: the ends of the feed. Whoever holds its lock is the publisher.
CREATE TABLE change_feed (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  newest  bigint NOT NULL DEFAULT 0,       -- seq of the newest published batch
  removed bigint NOT NULL DEFAULT 0        -- greatest seq of the batches that retention removed
);
INSERT INTO change_feed DEFAULT VALUES;
