-- product_search/state.sql: how products are found, and how many stores' names are not those of their latest products.
SELECT to_regclass('product_search_trigrams') IS NOT NULL AS has_trigrams,
       (SELECT count(*)
          FROM dispensaries d
          LEFT JOIN search_stores s ON s.dispensary_id = d.id
         WHERE d.last_payload_id IS DISTINCT FROM s.payload_id) AS stores_waiting;
