-- product_search/by_trigrams.sql: continues listed.sql; found.sql continues it. Products whose brand and name
-- are spelled like $14.
, found AS MATERIALIZED (
  SELECT s.product_id,
         ((word_similarity(lower($14), s.text) + similarity(lower($14), s.text)) * 500000)::bigint AS score
    FROM product_search s
   WHERE lower($14) <% s.text
     AND ($1 IS NULL OR s.dispensary_id = ANY ($1))
     AND ($2 IS NULL OR s.category = lower(btrim($2)))
   LIMIT $13
)
