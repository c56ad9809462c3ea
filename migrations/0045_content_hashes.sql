-- A refresh compares a hash of each product and its variants with the row's, and writes what differs.

-- Null = unknown: the row is written at its store's next refresh. So are all rows of a store whose hashed_payload_id is not its
-- last_payload_id: a process of the release before has written them since, and keeps no hashes.
ALTER TABLE store_products ADD COLUMN content_hash bigint, ADD COLUMN upstream_status text;
ALTER TABLE dispensaries ADD COLUMN hashed_payload_id bigint;

-- Its place on the menu, from 0.
ALTER TABLE store_product_variants ADD COLUMN position smallint;

-- A refresh holds the lock of its store's row, so that the store and its products cannot go meanwhile: no row needs to be checked.
-- The triggers forget_products and forget_variants delete what the foreign keys deleted.
ALTER TABLE store_products DROP CONSTRAINT store_products_dispensary_id_fkey;
ALTER TABLE store_product_variants DROP CONSTRAINT store_product_variants_store_product_id_fkey;
