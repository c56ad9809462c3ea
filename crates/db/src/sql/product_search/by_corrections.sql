-- product_search/by_corrections.sql: continues listed.sql; found.sql continues it. Products with words
-- spelled nearly like the searched ones: $14 all possible meanings, as a tsquery, $15 the most likely
-- meaning, whose products come first.
, found AS MATERIALIZED (
  SELECT s.product_id,
         CASE WHEN s.words @@ $15::tsquery THEN 1000000 ELSE 0 END + (ts_rank(s.words, $14::tsquery, 1) * 1000000)::bigint AS score
    FROM product_search s
   WHERE s.words @@ $14::tsquery
     AND ($1 IS NULL OR s.dispensary_id = ANY ($1))
     AND ($2 IS NULL OR s.category = lower(btrim($2)))
   LIMIT $13
)
