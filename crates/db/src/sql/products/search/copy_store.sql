-- products/search/copy_store.sql: copies the names and the sort values of a store's products where they
-- differ, and counts the words of new names. Returns the number of changed names. Reads only rows written
-- since the last copy, and, for transactions that began before it, some time before. $1 store, $2 maximum
-- words
WITH products AS MATERIALIZED (
  SELECT p.id, lower(btrim(p.category)) AS category, p.canonical_category, left(lower(concat_ws(' ', btrim(p.brand_name_raw), btrim(p.name_raw))), 500) AS text,
         left(lower(btrim(p.name_raw)), 100) AS name, left(brand_key(p.brand_name_raw), 100) AS brand,
         current_price(p) AS price, (SELECT u.unit_order FROM cheapest_option(p.id) u) AS unit_order,
         (extract(epoch FROM json_time(p.first_seen_at)) * 1000)::bigint AS first_seen_ms,
         (extract(epoch FROM json_time(p.updated_at)) * 1000)::bigint AS updated_ms, p.is_in_stock, p.is_on_special
    FROM store_products p
   WHERE p.dispensary_id = $1
     AND p.updated_at >= coalesce((SELECT s.listed_at - interval '1 hour' FROM search_stores s WHERE s.dispensary_id = $1), '-infinity')
), listed AS (
  INSERT INTO product_listing (product_id, dispensary_id, name, brand, category, canonical_category, price, price_before, price_changed_ms,
                               unit_order, first_seen_ms, is_in_stock, is_on_special)
  SELECT p.id, $1, p.name, p.brand, p.category, p.canonical_category, p.price,
         CASE WHEN o.price <> p.price THEN o.price ELSE o.price_before END,
         CASE WHEN o.price <> p.price THEN p.updated_ms ELSE coalesce(o.price_changed_ms, 0) END,
         p.unit_order, p.first_seen_ms, p.is_in_stock, p.is_on_special
    FROM products p
    LEFT JOIN product_listing o ON o.product_id = p.id
   WHERE (o.name, o.brand, o.category, o.canonical_category, o.price, o.unit_order, o.first_seen_ms, o.is_in_stock, o.is_on_special)
         IS DISTINCT FROM
         (p.name, p.brand, p.category, p.canonical_category, p.price, p.unit_order, p.first_seen_ms, p.is_in_stock, p.is_on_special)
   ORDER BY p.id
      ON CONFLICT (product_id) DO UPDATE
     SET name = excluded.name, brand = excluded.brand, category = excluded.category,
         canonical_category = excluded.canonical_category, price = excluded.price, price_before = excluded.price_before,
         price_changed_ms = excluded.price_changed_ms, unit_order = excluded.unit_order, first_seen_ms = excluded.first_seen_ms,
         is_in_stock = excluded.is_in_stock, is_on_special = excluded.is_on_special
), copied AS (
  INSERT INTO product_search AS s (product_id, dispensary_id, category, canonical_category, text)
  SELECT p.id, $1, p.category, p.canonical_category, p.text
    FROM products p
    LEFT JOIN product_search o ON o.product_id = p.id
   WHERE (o.text, o.category, o.canonical_category) IS DISTINCT FROM (p.text, p.category, p.canonical_category)
   ORDER BY p.id
      ON CONFLICT (product_id) DO UPDATE
     SET category = excluded.category, canonical_category = excluded.canonical_category, text = excluded.text
  RETURNING s.words
), counted AS (
  INSERT INTO search_words AS w (word, products)
  SELECT word, count(*)
    FROM copied c, unnest(tsvector_to_array(c.words)) AS word
   WHERE length(word) BETWEEN 3 AND 30
     AND word !~ '[[:digit:][:punct:]]'
   GROUP BY word
   ORDER BY word      -- two copies at a time lock them in the same order
   LIMIT $2
      ON CONFLICT (word) DO UPDATE SET products = w.products + excluded.products
), noted AS (
  INSERT INTO search_stores (dispensary_id, payload_id, copied_at, listed_payload_id, listed_at)
  SELECT id, last_payload_id, now(), last_payload_id, now() FROM dispensaries WHERE id = $1
      ON CONFLICT (dispensary_id) DO UPDATE
     SET payload_id = excluded.payload_id, copied_at = excluded.copied_at, listed_payload_id = excluded.listed_payload_id,
         listed_at = excluded.listed_at
)
SELECT count(*) FROM copied;
