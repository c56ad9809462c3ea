-- products/images/wanted_logos.sql: logos to download, of the brands of a store's products. $1 store, $2 also stored
-- ones, $3 tries after which an image is given up, $4 also those that their host refused, however often they were tried
SELECT b.id, b.image_url, b.slug, coalesce(f.reason = 'refused_host', false) AS was_refused
  FROM brands b
  LEFT JOIN brand_image_failures f ON f.brand_id = b.id AND f.image_url = b.image_url
 WHERE b.image_url IS NOT NULL
   AND ($2 OR (b.local_image_path IS NULL AND (f.brand_id IS NULL OR CASE f.reason WHEN 'refused_host' THEN $4 ELSE f.tries < $3 AND f.retry_at <= now() END)))
   -- by the address: a brand's slug is made of its name outside of SQL
   AND b.image_url IN (SELECT p.brand_image_url FROM store_products p WHERE p.dispensary_id = $1 AND p.brand_image_url IS NOT NULL);
