-- products/search/count_words.sql: counts the words of all names again; returns the number of changed counts.
-- $1 maximum words, the most frequent ones
WITH counted AS MATERIALIZED (
  SELECT word, ndoc::bigint AS products
    FROM ts_stat('SELECT words FROM product_search')
   WHERE length(word) BETWEEN 3 AND 30
     AND word !~ '[[:digit:][:punct:]]'
   ORDER BY ndoc DESC, word
   LIMIT $1
), gone AS (
  DELETE FROM search_words w WHERE NOT EXISTS (SELECT FROM counted c WHERE c.word = w.word)
  RETURNING 1
), changed AS (
  INSERT INTO search_words AS w (word, products)
  SELECT c.word, c.products
    FROM counted c
    LEFT JOIN search_words o ON o.word = c.word
   WHERE o.products IS DISTINCT FROM c.products
   ORDER BY c.word
      ON CONFLICT (word) DO UPDATE SET products = excluded.products
  RETURNING 1
)
SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM changed);
