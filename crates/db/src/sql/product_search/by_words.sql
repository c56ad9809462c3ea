-- product_search/by_words.sql: continues listed.sql; found.sql continues it. Products that have all words of
-- $14.
, question AS MATERIALIZED (
  -- each word may be the beginning of a longer one
  SELECT to_tsquery('simple', string_agg(quote_literal(word) || ':*', ' & ')) AS words
    FROM unnest(tsvector_to_array(to_tsvector('simple', $14))) AS word
), found AS MATERIALIZED (
  SELECT s.product_id, (ts_rank(s.words, (SELECT words FROM question), 1) * 1000000)::bigint AS score
    FROM product_search s
   WHERE s.words @@ (SELECT words FROM question)
     AND ($1 IS NULL OR s.dispensary_id = ANY ($1))
     AND ($2 IS NULL OR s.category = lower(btrim($2)))
   LIMIT $13
)
