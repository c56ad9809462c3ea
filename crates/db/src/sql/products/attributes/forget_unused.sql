-- products/attributes/forget_unused.sql: deletes a store's attributes that none of its products has. $1 store
DELETE FROM store_attributes s
 WHERE s.dispensary_id = $1
   AND s.hash <> ALL (ARRAY (SELECT p.attributes_hash
                               FROM store_products p
                              WHERE p.dispensary_id = $1
                                AND p.attributes_hash IS NOT NULL));
