-- products/search/by_trigrams.sql: products whose brand and name are spelled like $text.
{products/search/listed.sql}
, found AS MATERIALIZED (
  SELECT s.product_id,
         ((word_similarity(lower($text), s.text) + similarity(lower($text), s.text)) * 500000)::bigint AS score
    FROM product_search s
   WHERE lower($text) <% s.text
     AND ($stores::bigint[] IS NULL OR s.dispensary_id = ANY ($stores))
     AND ($category::text IS NULL OR lower(btrim($category)) IN (s.category, s.canonical_category))
   LIMIT $max_scanned
)
{products/search/found.sql}
