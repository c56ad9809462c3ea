-- Categories of products by which prices are compared, and the order of products by their prices by unit.

ALTER TABLE store_products ADD COLUMN canonical_category text;      -- name of a category of config/categories.toml

ALTER TABLE product_search ADD COLUMN canonical_category text;

-- The order of prices by unit, of the cheapest option; null = no option has one.
ALTER TABLE product_listing
  ADD COLUMN canonical_category text,
  ADD COLUMN unit_order         bigint;
-- The sort in crates/db/src/sql/products/search/ uses this index. A product without a price by unit is last.
CREATE INDEX product_listing_unit_price ON product_listing (coalesce(unit_order, 9223372036854775807), product_id);

-- Maximum price by gram after the change, in millicents.
ALTER TABLE change_rules ADD COLUMN max_unit_price bigint;

-- The next crawl of each store writes the categories of all its products, and the search copies all of them.
UPDATE dispensaries SET hashed_payload_id = NULL WHERE hashed_payload_id IS NOT NULL;
UPDATE search_stores SET listed_payload_id = NULL, listed_at = NULL;
