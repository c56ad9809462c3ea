-- What products are found by: apart from their rows, so that a crawl writes none of it. A chore copies a store's names some seconds after a
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
  copied_at     timestamptz NOT NULL
);
