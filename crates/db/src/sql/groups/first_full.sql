-- The first of the stores $2 that group $1 would be one too many for. $3 maximum number of groups of a store
SELECT id FROM dispensaries WHERE id = ANY ($2) AND $1 <> ALL (groups) AND cardinality(groups) >= $3 ORDER BY id LIMIT 1
