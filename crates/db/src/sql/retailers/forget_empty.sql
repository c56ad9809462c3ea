-- retailers/forget_empty.sql: deletes the retailers of less than two stores.
DELETE FROM retailers r
 WHERE (SELECT count(*) FROM (SELECT FROM dispensaries d WHERE d.retailer_id = r.id LIMIT 2) two) < 2;
