-- retailers/join.sql: gives stores a retailer. $1 retailer, $2 ids
UPDATE dispensaries SET retailer_id = $1, updated_at = now() WHERE id = ANY($2) AND retailer_id IS DISTINCT FROM $1;
