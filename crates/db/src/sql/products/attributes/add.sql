-- products/attributes/add.sql: adds the attributes that a store lacks. $1 store, $2 hashes, which are distinct, $3 their
-- JSON
INSERT INTO store_attributes (dispensary_id, hash, attributes)
SELECT $1, f.hash, f.attributes
  FROM unnest($2::bigint[], $3::text[]) AS f (hash, attributes)
 WHERE NOT EXISTS (SELECT FROM store_attributes s WHERE s.dispensary_id = $1 AND s.hash = f.hash);
