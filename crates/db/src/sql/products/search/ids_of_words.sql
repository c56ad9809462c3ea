-- products/search/ids_of_words.sql: products with the words of $words, a tsquery, in any order.
SELECT s.product_id
  FROM product_search s
 WHERE s.words @@ $words::tsquery
   AND ($stores::bigint[] IS NULL OR s.dispensary_id = ANY ($stores))
   AND ($category::text IS NULL OR lower(btrim($category)) IN (s.category, s.canonical_category))
 LIMIT $limit
