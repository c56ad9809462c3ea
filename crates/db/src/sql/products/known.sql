-- products/known.sql: products, as a menu is compared with them. $1 ids
SELECT id, provider_product_id, content_hash, is_in_stock, consecutive_misses,
       CASE upstream_status WHEN 'active' THEN true WHEN 'inactive' THEN false END AS is_listed
  FROM store_products
 WHERE id = ANY ($1);
