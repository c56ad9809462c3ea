-- A store's specials are kept once. Products name theirs by hash: a sale of a few kilobytes covers many products.

-- `hash` is of the JSON's text as it was written; the products' specials_hash is the same.
CREATE TABLE store_specials (
  dispensary_id bigint NOT NULL,
  hash          bigint NOT NULL,
  specials      jsonb NOT NULL,
  PRIMARY KEY (dispensary_id, hash)
);

-- A row that was not written since keeps its JSON in `specials`; product_specials() reads both.
ALTER TABLE store_products ADD COLUMN specials_hash bigint;
