-- products/search/state.sql: whether misspelled words can be corrected, and the number of stores whose names
-- are older than their latest products.
SELECT to_regclass('product_search_trigrams') IS NOT NULL AS has_trigrams,
       EXISTS (SELECT FROM search_words) AS has_words,
       (SELECT count(*)
          FROM dispensaries d
          LEFT JOIN search_stores s ON s.dispensary_id = d.id
         WHERE d.last_payload_id IS DISTINCT FROM s.listed_payload_id) AS stores_waiting;
