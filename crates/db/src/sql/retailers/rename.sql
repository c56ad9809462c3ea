-- retailers/rename.sql: gives a retailer another name. $1 id, $2 name
UPDATE retailers SET name = $2 WHERE id = $1;
