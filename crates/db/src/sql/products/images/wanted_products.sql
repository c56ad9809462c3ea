-- products/images/wanted_products.sql: images to download, of a store's products. $all: include stored ones. $max_tries: maximum
-- number of tries of each. $with_refused: include those that their host refused, after any number of tries
SELECT p.id, p.image_url, p.brand_name_raw, p.provider_product_id, d.state, coalesce(d.slug, d.id::text) AS store, coalesce(f.reason = 'refused_host', false) AS was_refused
  FROM store_products p
  JOIN dispensaries d ON d.id = p.dispensary_id
  LEFT JOIN product_image_failures f ON f.product_id = p.id AND f.image_url = p.image_url
 WHERE p.dispensary_id = $store
   AND p.image_url IS NOT NULL
   AND ($all OR (p.local_image_path IS NULL AND (f.product_id IS NULL OR CASE f.reason WHEN 'refused_host' THEN $with_refused ELSE f.tries < $max_tries AND f.retry_at <= now() END)));
