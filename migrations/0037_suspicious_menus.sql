-- Menus that were too small to be believed at once: less than half of what was there before. One row a look, hours apart; the third
-- in a row is believed. A good menu, and one that is believed, ends the row.
CREATE TABLE suspicious_menus (
  dispensary_id bigint NOT NULL REFERENCES dispensaries (id) ON DELETE CASCADE,
  fetched_at    timestamptz NOT NULL,
  product_count integer NOT NULL,
  proxy_id      bigint,
  PRIMARY KEY (dispensary_id, fetched_at)
);
