-- products/images/wanted_logos.sql: logos to download, of the brands of a store's products. $all: include stored ones. $max_tries: maximum
-- number of tries of each. $with_refused: include those that their host refused, after any number of tries
SELECT b.id, b.image_url, b.slug, coalesce(f.reason = 'refused_host', false) AS was_refused
  FROM brands b
  LEFT JOIN brand_image_failures f ON f.brand_id = b.id AND f.image_url = b.image_url
 WHERE b.image_url IS NOT NULL
   AND ($all OR (b.local_image_path IS NULL AND (f.brand_id IS NULL OR CASE f.reason WHEN 'refused_host' THEN $with_refused ELSE f.tries < $max_tries AND f.retry_at <= now() END)))
   -- by the address: a brand's slug is made of its name outside of SQL
   AND b.image_url IN (SELECT p.brand_image_url FROM store_products p WHERE p.dispensary_id = $store AND p.brand_image_url IS NOT NULL);
