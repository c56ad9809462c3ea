-- retailers/matching/stores.sql: the facts about all stores by which they are compared; at most $1.
SELECT id, platform, name, address, city, state, zip, latitude, longitude, phone, website, licences, is_recreational, is_medical,
       retailer_id
  FROM dispensaries
 ORDER BY id
 LIMIT $1;
