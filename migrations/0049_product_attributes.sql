-- Attributes of products: facts that some platforms state, such as strain, terpenes, tags and ratings. Products refer to them by the hash of
-- the text, as to specials; product_attributes() reads them.
CREATE TABLE store_attributes (
  dispensary_id bigint NOT NULL,
  hash          bigint NOT NULL,
  attributes    text NOT NULL,
  PRIMARY KEY (dispensary_id, hash)
);

-- Hash of the attributes in store_attributes; null if the platform states none.
ALTER TABLE store_products ADD COLUMN attributes_hash bigint;
