-- retailers/settle.sql: forgets the proposals about two stores of one retailer.
DELETE FROM retailer_proposals p
 USING dispensaries a, dispensaries b
 WHERE a.id = p.one AND b.id = p.other AND a.retailer_id = b.retailer_id;
