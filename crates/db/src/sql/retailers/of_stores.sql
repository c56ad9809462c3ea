-- retailers/of_stores.sql: the retailers of two stores, whose rows are locked. $1 ids
SELECT id, name, state, retailer_id FROM dispensaries WHERE id = ANY($1) ORDER BY id FOR UPDATE;
