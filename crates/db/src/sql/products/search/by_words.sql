-- products/search/by_words.sql: products that have all of $words.
{products/search/listed.sql}
, question AS MATERIALIZED (
  -- each word may be the beginning of a longer one
  SELECT to_tsquery('simple', string_agg(quote_literal(word) || ':*', ' & ')) AS words
    FROM unnest(tsvector_to_array(to_tsvector('simple', $words))) AS word
), found AS MATERIALIZED (
  SELECT s.product_id, (ts_rank(s.words, (SELECT words FROM question), 1) * 1000000)::bigint AS score
    FROM product_search s
   WHERE s.words @@ (SELECT words FROM question)
     AND ($stores::bigint[] IS NULL OR s.dispensary_id = ANY ($stores))
     AND ($category::text IS NULL OR lower(btrim($category)) IN (s.category, s.canonical_category))
   LIMIT $max_scanned
)
{products/search/found.sql}
