-- retailers/merge.sql: gives all stores of a retailer to another. $1 the one that stays, $2 the other
UPDATE dispensaries SET retailer_id = $1, updated_at = now() WHERE retailer_id = $2;
