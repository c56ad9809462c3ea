-- products/specials/add.sql: adds the specials that a store lacks. $1 store, $2 hashes, which are distinct, $3 their
-- JSON
INSERT INTO store_specials (dispensary_id, hash, specials)
SELECT $1, f.hash, f.specials
  FROM unnest($2::bigint[], $3::text[]) AS f (hash, specials)
 WHERE NOT EXISTS (SELECT FROM store_specials s WHERE s.dispensary_id = $1 AND s.hash = f.hash);
