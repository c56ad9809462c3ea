-- products/search/ids_of_spelling.sql: products whose brand and name are spelled like $text, in any order.
SELECT s.product_id
  FROM product_search s
 WHERE lower($text) <% s.text
   AND ($stores::bigint[] IS NULL OR s.dispensary_id = ANY ($stores))
   AND ($category::text IS NULL OR lower(btrim($category)) IN (s.category, s.canonical_category))
 LIMIT $limit
