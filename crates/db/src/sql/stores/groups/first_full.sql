-- The first of the stores $2 that would exceed its maximum number of groups with group $1. $3 maximum number
-- of groups of a store
SELECT id FROM dispensaries WHERE id = ANY ($2) AND $1 <> ALL (groups) AND cardinality(groups) >= $3 ORDER BY id LIMIT 1
