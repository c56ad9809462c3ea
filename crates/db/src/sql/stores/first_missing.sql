-- stores/first_missing.sql: the first of the stores $1 that does not exist.
SELECT asked.id FROM unnest($1::bigint[]) AS asked(id)
 WHERE NOT EXISTS (SELECT 1 FROM dispensaries d WHERE d.id = asked.id) ORDER BY 1 LIMIT 1;
