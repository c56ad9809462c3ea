-- products/row_hashes.sql: a store's products by the hashes of their content, as far as they have one and no crawl has missed them, and the
-- ids of all others. $1 store, $2 platform
SELECT coalesce(array_agg(id) FILTER (WHERE is_compared), '{}') AS ids,
       coalesce(array_agg(content_hash) FILTER (WHERE is_compared), '{}') AS hashes,
       coalesce(array_agg(id) FILTER (WHERE NOT is_compared), '{}') AS others
  FROM (SELECT id, content_hash, consecutive_misses = 0 AND content_hash IS NOT NULL AS is_compared
          FROM store_products
         WHERE dispensary_id = $1 AND provider = $2) rows;
