-- product_search/stores.sql: the stores whose products are searched; a null filters nothing. $1 state, $2
-- city, $3 store, $4 at most
SELECT id
  FROM dispensaries
 WHERE ($1::text IS NULL OR state = upper($1))
   AND ($2::text IS NULL OR lower(btrim(city)) = lower(btrim($2)))
   AND ($3::bigint IS NULL OR id = $3)
 ORDER BY id
 LIMIT $4;
