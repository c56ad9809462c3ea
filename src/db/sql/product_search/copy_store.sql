-- product_search/copy_store.sql: copies the names of a store's products where they differ; answers with how many. Looks only at rows that were
-- written since the last copy, and, for transactions that began before it, some time before. $1 store
WITH names AS MATERIALIZED (
  SELECT p.id, lower(btrim(p.category)) AS category, left(lower(concat_ws(' ', btrim(p.brand_name_raw), btrim(p.name_raw))), 500) AS text
    FROM store_products p
   WHERE p.dispensary_id = $1
     AND p.updated_at >= coalesce((SELECT s.copied_at - interval '1 hour' FROM search_stores s WHERE s.dispensary_id = $1), '-infinity')
), copied AS (
  INSERT INTO product_search AS s (product_id, dispensary_id, category, text)
  SELECT n.id, $1, n.category, n.text
    FROM names n
    LEFT JOIN product_search o ON o.product_id = n.id
   WHERE (o.text, o.category) IS DISTINCT FROM (n.text, n.category)
   ORDER BY n.id
      ON CONFLICT (product_id) DO UPDATE SET category = excluded.category, text = excluded.text
  RETURNING 1
), noted AS (
  INSERT INTO search_stores (dispensary_id, payload_id, copied_at)
  SELECT id, last_payload_id, now() FROM dispensaries WHERE id = $1
      ON CONFLICT (dispensary_id) DO UPDATE SET payload_id = excluded.payload_id, copied_at = excluded.copied_at
)
SELECT count(*) FROM copied;
