-- stores/add_unless_known.sql: stores by hand or from a list, one array a column; those that are known
-- change in nothing but their groups. In their order.
SELECT store_id, is_known, is_grouped, is_full
  FROM add_stores($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);
