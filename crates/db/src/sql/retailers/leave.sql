-- retailers/leave.sql: takes a store out of its retailer; returns it. $1 id
UPDATE dispensaries d SET retailer_id = NULL, updated_at = now()
  FROM dispensaries before
 WHERE d.id = $1 AND before.id = d.id AND before.retailer_id IS NOT NULL
RETURNING before.retailer_id;
