-- retailers/beside.sql: the other stores of a store's retailer. $1 id
SELECT o.id FROM dispensaries d JOIN dispensaries o ON o.retailer_id = d.retailer_id AND o.id <> d.id WHERE d.id = $1;
