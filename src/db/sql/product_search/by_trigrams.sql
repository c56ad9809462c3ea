-- product_search/by_trigrams.sql: products whose brand and name are spelled alike. Goes on as found.sql, which says what the parameters are.
WITH found AS MATERIALIZED (
  SELECT s.product_id, 'alike' AS found_by,
         ((word_similarity(lower($1), s.text) + similarity(lower($1), s.text)) * 500000)::bigint AS score
    FROM product_search s
   WHERE lower($1) <% s.text
     AND ($2 IS NULL OR s.dispensary_id IN (SELECT id FROM dispensaries WHERE state = upper($2)))
     AND ($3 IS NULL OR s.category = lower(btrim($3)))
     AND ($8 IS NULL OR starts_with(s.text, lower(btrim($8))))
   LIMIT $12
)
