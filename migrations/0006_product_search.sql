-- Products in searchable form, apart from their rows, so that a crawl writes none of it. A chore copies a store's names some seconds after
-- a crawl; analytics_refresh copies the rest. Both write only rows that differ.
CREATE TABLE product_search (
  product_id    bigint PRIMARY KEY,
  dispensary_id bigint NOT NULL,
  -- Lower case, as is `text`, which holds brand and name.
  category      text,
  text          text NOT NULL,
  words         tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED
);

CREATE INDEX product_search_store ON product_search (dispensary_id);
CREATE INDEX product_search_words ON product_search USING gin (words);

-- The payloads from which each store's names (payload_id) and list (listed_payload_id) were last copied.
CREATE TABLE search_stores (
  dispensary_id bigint PRIMARY KEY,
  payload_id    bigint,
  copied_at     timestamptz NOT NULL,
  listed_payload_id bigint,
  listed_at     timestamptz
);

-- Search finds misspelled words if the server has the extension pg_trgm and lets this account create it; otherwise it searches by words
-- alone. The extension may be added later: see docs/runbook.md.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX product_search_trigrams ON product_search USING gin (text gin_trgm_ops);
EXCEPTION
  WHEN insufficient_privilege OR feature_not_supported OR undefined_file OR undefined_object THEN
    RAISE NOTICE 'products are searched by words alone: %', SQLERRM;
END $$;

-- Lists of the products of all stores filter and sort this table: the products' own rows have no index on prices and stock, so that a crawl
-- updates them in place. The chore that copies names fills this table as well.
CREATE TABLE product_listing (
  product_id       bigint PRIMARY KEY,
  dispensary_id    bigint NOT NULL,
  -- Lower case, as are brand and category. Lists sort by it.
  name             text COLLATE "C" NOT NULL,
  brand            text,
  category         text,
  -- The current price, as in v_products.
  price            integer,
  -- The price before the latest observed change, and the time of that change in milliseconds since 1970; 0 = no change.
  price_before     integer,
  price_changed_ms bigint NOT NULL DEFAULT 0,
  first_seen_ms    bigint NOT NULL,
  is_in_stock      boolean NOT NULL,
  is_on_special    boolean NOT NULL
) WITH (fillfactor = 85);      -- room for in-place updates of stock and specials

CREATE INDEX product_listing_store ON product_listing (dispensary_id);
CREATE INDEX product_listing_name ON product_listing (name, product_id);
-- The sorts in crates/db/src/sql/product_search/ use these indexes. A product without a price is last in both orders of price.
CREATE INDEX product_listing_price ON product_listing (coalesce(price::bigint, 2147483648), product_id);
CREATE INDEX product_listing_price_desc ON product_listing (coalesce(-price::bigint, 2147483648), product_id);
CREATE INDEX product_listing_price_change ON product_listing ((-price_changed_ms), product_id);
CREATE INDEX product_listing_newest ON product_listing ((-first_seen_ms), product_id);

-- The word itself, and the word without each one of its letters. Two words that are one edit apart (a letter deleted, inserted, replaced,
-- or exchanged with the next one) have one of these in common.
CREATE FUNCTION word_deletions(word text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT array_agg(DISTINCT left(word, n) || substr(word, n + 2)) FROM generate_series(0, length(word)) n
$f$;

-- Words of product_search without digits and punctuation, from which misspelled words are corrected. A chore counts them every hour, and
-- deletes those that no product has.
CREATE TABLE search_words (
  word      text PRIMARY KEY,
  products  bigint NOT NULL,
  deletions text[] NOT NULL GENERATED ALWAYS AS (word_deletions(word)) STORED
) WITH (fillfactor = 85);

CREATE INDEX search_words_deletions ON search_words USING gin (deletions) WITH (fastupdate = off);
