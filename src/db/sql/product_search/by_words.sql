-- product_search/by_words.sql: products that have all words. Goes on as found.sql, which says what the parameters are.
WITH question AS MATERIALIZED (
  -- each word may be the beginning of a longer one
  SELECT to_tsquery('simple', string_agg(quote_literal(word) || ':*', ' & ')) AS words
    FROM unnest(tsvector_to_array(to_tsvector('simple', $1))) AS word
), found AS MATERIALIZED (
  SELECT s.product_id, 'words' AS found_by, (ts_rank(s.words, (SELECT words FROM question), 1) * 1000000)::bigint AS score
    FROM product_search s
   WHERE s.words @@ (SELECT words FROM question)
     AND ($2 IS NULL OR s.dispensary_id IN (SELECT id FROM dispensaries WHERE state = upper($2)))
     AND ($3 IS NULL OR s.category = lower(btrim($3)))
     AND ($8 IS NULL OR starts_with(s.text, lower(btrim($8))))
   LIMIT $12
)
