-- retailers/matching/apart.sql: pairs of stores that are not one retailer, as a person said; at most $1.
SELECT ARRAY[one, other] AS stores FROM stores_apart ORDER BY one, other LIMIT $1;
