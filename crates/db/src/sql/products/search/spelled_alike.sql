-- products/search/spelled_alike.sql: the words of $1, each with words of products that are one edit apart, or
-- equal after dropping one letter on both sides; the word itself if a product has it. The most frequent ones.
-- $2 words, $3 maximum of each
SELECT typed.word AS typed, alike.word, coalesce(alike.products, 0) AS products
  FROM (SELECT word FROM unnest(tsvector_to_array(to_tsvector('simple', $1))) AS word LIMIT $2) typed
  LEFT JOIN LATERAL (SELECT w.word, w.products
                       FROM search_words w
                      WHERE w.deletions && word_deletions(typed.word)
                        AND length(typed.word) BETWEEN 3 AND 30
                        AND typed.word !~ '[[:digit:][:punct:]]'
                      ORDER BY w.products DESC, w.word
                      LIMIT $3) alike ON true;
