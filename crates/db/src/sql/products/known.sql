-- products/known.sql: a store's products as one platform names them. $1 store, $2 platform
SELECT id, provider_product_id, content_hash, is_in_stock, consecutive_misses,
       CASE upstream_status WHEN 'active' THEN true WHEN 'inactive' THEN false END AS is_listed
  FROM store_products
 WHERE dispensary_id = $1 AND provider = $2;
