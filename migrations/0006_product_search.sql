-- Products as they are searched: apart from their rows, so that a crawl writes none of it. A chore copies a store's names some seconds after a
-- crawl, analytics_refresh what is left; both write only what differs.
CREATE TABLE product_search (
  product_id    bigint PRIMARY KEY,
  dispensary_id bigint NOT NULL,
  -- In small letters, as the text: brand and name.
  category      text,
  text          text NOT NULL,
  words         tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED
);

CREATE INDEX product_search_store ON product_search (dispensary_id);
CREATE INDEX product_search_words ON product_search USING gin (words);

-- The payload of each store's products whose names were copied.
CREATE TABLE search_stores (
  dispensary_id bigint PRIMARY KEY,
  payload_id    bigint,
  copied_at     timestamptz NOT NULL,
  listed_payload_id bigint,
  listed_at     timestamptz
);

-- Products are found despite spelling mistakes where the server has the extension pg_trgm and lets this account create it; else by words alone.
-- It may be added later: see docs/runbook.md.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX product_search_trigrams ON product_search USING gin (text gin_trgm_ops);
EXCEPTION
  WHEN insufficient_privilege OR feature_not_supported OR undefined_file OR undefined_object THEN
    RAISE NOTICE 'products are searched by words alone: %', SQLERRM;
END $$;

-- Products of all stores are filtered and sorted here: their own rows have no index on prices and stock, so that a crawl changes them in place.
-- The chore that copies names fills this table as well.
CREATE TABLE product_listing (
  product_id       bigint PRIMARY KEY,
  dispensary_id    bigint NOT NULL,
  -- In small letters, as brand and category: by which it is sorted.
  name             text COLLATE "C" NOT NULL,
  brand            text,
  category         text,
  -- The price now, as in v_products.
  price            integer,
  -- The price before the latest change that was seen, and the time of that change in milliseconds since 1970; 0 = none.
  price_before     integer,
  price_changed_ms bigint NOT NULL DEFAULT 0,
  first_seen_ms    bigint NOT NULL,
  is_in_stock      boolean NOT NULL,
  is_on_special    boolean NOT NULL
) WITH (fillfactor = 85);      -- room for stock and specials to change in place

CREATE INDEX product_listing_store ON product_listing (dispensary_id);
CREATE INDEX product_listing_name ON product_listing (name, product_id);
-- The sorts in crates/db/src/sql/product_search/ use these indexes; a product without a price is last in both orders of price.
CREATE INDEX product_listing_price ON product_listing (coalesce(price::bigint, 2147483648), product_id);
CREATE INDEX product_listing_price_desc ON product_listing (coalesce(-price::bigint, 2147483648), product_id);
CREATE INDEX product_listing_price_change ON product_listing ((-price_changed_ms), product_id);
CREATE INDEX product_listing_newest ON product_listing ((-first_seen_ms), product_id);

-- The word, and what is left of it without one of its letters. Words that are one edit apart (a letter left out, put in, replaced, or exchanged
-- with the next one) have one of these in common.
CREATE FUNCTION word_deletions(word text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT array_agg(DISTINCT left(word, n) || substr(word, n + 2)) FROM generate_series(0, length(word)) n
$f$;

-- The words of product_search without digits and signs, by which misspelled ones are corrected. A chore counts them each hour, and forgets those
-- that no product has.
CREATE TABLE search_words (
  word      text PRIMARY KEY,
  products  bigint NOT NULL,
  deletions text[] NOT NULL GENERATED ALWAYS AS (word_deletions(word)) STORED
) WITH (fillfactor = 85);

CREATE INDEX search_words_deletions ON search_words USING gin (deletions) WITH (fastupdate = off);
