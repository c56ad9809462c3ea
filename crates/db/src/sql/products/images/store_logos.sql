-- products/images/store_logos.sql: writes the paths of stored logos. $1 brands, $2 paths. Returns the rows that were
-- written
WITH stored AS (
  SELECT b.id, f.path
    FROM brands b
    JOIN unnest($1::bigint[], $2::text[]) AS f (id, path) USING (id)
   ORDER BY b.id
     FOR NO KEY UPDATE OF b SKIP LOCKED
), forgotten AS (
  DELETE FROM brand_image_failures x USING stored WHERE x.brand_id = stored.id
)
UPDATE brands b SET local_image_path = stored.path, updated_at = now() FROM stored WHERE b.id = stored.id RETURNING b.id;
