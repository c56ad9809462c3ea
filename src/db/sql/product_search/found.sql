-- product_search/found.sql: the end of by_words.sql and by_trigrams.sql: what they found, the best first; a null filters nothing. Planned
-- for its values. $1 what is looked for, $2 state, $3 category, $4 in stock, $5 on special, $6 and $7 lowest and highest price, $8 brand,
-- $9 and $10 score and id of the last one of the page before, $11 rows, $12 products that are looked at, at most
SELECT v.*, -f.score AS sort_number, f.found_by AS sort_text, f.of_many
  FROM (SELECT *, count(*) OVER () >= $12 AS of_many FROM found) f
  JOIN v_products v ON v.id = f.product_id
 WHERE ($4 IS NULL OR v.is_in_stock = $4)
   AND ($5 IS NULL OR v.is_on_special = $5)
   AND ($6 IS NULL OR v.price >= $6)
   AND ($7 IS NULL OR v.price <= $7)
   AND ($9 IS NULL OR (-f.score, v.id) > ($9, $10))
 ORDER BY -f.score, v.id
 LIMIT $11
