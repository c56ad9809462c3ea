-- products/search/by_corrections.sql: products with words spelled nearly like the searched ones: $any are all possible
-- meanings, as a tsquery, $likely is the most likely meaning, whose products come first.
{products/search/listed.sql}
, found AS MATERIALIZED (
  SELECT s.product_id,
         CASE WHEN s.words @@ $likely::tsquery THEN 1000000 ELSE 0 END + (ts_rank(s.words, $any::tsquery, 1) * 1000000)::bigint AS score
    FROM product_search s
   WHERE s.words @@ $any::tsquery
     AND ($stores::bigint[] IS NULL OR s.dispensary_id = ANY ($stores))
     AND ($category::text IS NULL OR lower(btrim($category)) IN (s.category, s.canonical_category))
   LIMIT $max_scanned
)
{products/search/found.sql}
