-- Bundles of options, such as "2 for $50", and the whole crawls of each store, by which its menu at a time is found.

ALTER TABLE store_product_variants
  ADD COLUMN bundle_quantity integer,      -- number of pieces
  ADD COLUMN bundle_total    integer,      -- cents for all of them
  ADD COLUMN bundle_per_g    bigint;       -- millicents

-- The next crawl of each store writes the bundles of all its options.
UPDATE dispensaries SET hashed_payload_id = NULL WHERE hashed_payload_id IS NOT NULL;

-- One row per whole crawl whose products were written in its turn: the menu as of it is known, also when its payload is removed.
CREATE TABLE whole_crawls (
  dispensary_id bigint NOT NULL REFERENCES dispensaries ON DELETE CASCADE,
  crawled_at    timestamptz NOT NULL,
  crawl_id      bigint NOT NULL,
  PRIMARY KEY (dispensary_id, crawled_at, crawl_id)
);
CREATE INDEX whole_crawls_age ON whole_crawls USING brin (crawled_at);

INSERT INTO whole_crawls (dispensary_id, crawled_at, crawl_id)
SELECT p.dispensary_id, p.fetched_at, p.id
  FROM raw_crawl_payloads p
  JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE (p.fetched_at, p.id) <= (d.last_payload_at, d.last_payload_id)
   AND (p.product_count > 0 OR p.total_count = 0)
   AND (p.total_count - p.product_count <= 1 OR p.coverage >= 0.995);
