-- products/specials/forget_unused.sql: deletes a store's specials that none of its products has. $1 store
DELETE FROM store_specials s
 WHERE s.dispensary_id = $1
   AND s.hash <> ALL (ARRAY (SELECT p.specials_hash
                               FROM store_products p
                              WHERE p.dispensary_id = $1
                                AND p.specials_hash IS NOT NULL));
