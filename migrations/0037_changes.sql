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

CREATE TYPE change_kind AS ENUM ('price_drop', 'price_rise', 'special_start', 'special_end', 'sold_out', 'restocked', 'low_stock', 'new', 'gone', 'returned');

-- Columns in the order in which they take the least space: a busy crawl writes many rows.
CREATE TABLE product_changes (
  crawl_id              bigint NOT NULL,
  store_product_id      bigint NOT NULL,
  crawled_at            timestamptz NOT NULL,
  n                     integer NOT NULL,       -- place in the batch, from 0
  kind                  change_kind NOT NULL,
  old_rec               integer,                -- the option before and after, as far as the change concerns it; prices in cents
  new_rec               integer,
  old_med               integer,
  new_med               integer,
  old_special_rec       integer,
  new_special_rec       integer,
  old_special_med       integer,
  new_special_med       integer,
  old_quantity          integer,
  new_quantity          integer,
  cents                 integer,                -- new minus old price
  percent               real,                   -- cents as a percentage of the old price
  nth                   smallint,
  old_quantity_censored boolean,
  new_quantity_censored boolean,
  option_label          text                    -- null: a change of the product
) PARTITION BY RANGE (crawled_at);
CREATE INDEX product_changes_crawl ON product_changes (crawl_id);

CREATE TABLE product_changes_default PARTITION OF product_changes DEFAULT;

-- One row: the ends of the feed. Whoever holds its lock is the publisher.
CREATE TABLE change_feed (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  newest  bigint NOT NULL DEFAULT 0,       -- seq of the newest published batch
  removed bigint NOT NULL DEFAULT 0        -- greatest seq of the batches that retention removed
);
INSERT INTO change_feed DEFAULT VALUES;
