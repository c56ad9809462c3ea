-- products/images/store_products.sql: writes the paths of stored product images. $1 products, $2 paths. Returns the
-- rows that were written
WITH stored AS (
  SELECT p.id, f.path,
         set_config('xmlbinary', 'hex', true)   -- images are not part of the content hash: forget_hash need not compare the rows
    FROM store_products p
    JOIN unnest($1::bigint[], $2::text[]) AS f (id, path) USING (id)
   ORDER BY p.id
     -- a refresh that writes the row right now must not be waited for, nor wait for the others
     FOR NO KEY UPDATE OF p SKIP LOCKED
), forgotten AS (
  DELETE FROM product_image_failures x USING stored WHERE x.product_id = stored.id
)
UPDATE store_products p SET local_image_path = stored.path FROM stored WHERE p.id = stored.id RETURNING p.id;
