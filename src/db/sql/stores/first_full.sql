-- stores/first_full.sql: the first of the stores $2 that group $1 would be one too many for. $3 how many a store may be in
SELECT id FROM dispensaries WHERE id = ANY ($2) AND $1 <> ALL (groups) AND cardinality(groups) >= $3 ORDER BY id LIMIT 1;
