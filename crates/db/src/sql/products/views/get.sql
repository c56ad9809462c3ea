-- products/views/get.sql: one product, with its specials and attributes. $1 id
SELECT v.*, product_specials(p) AS specials, product_attributes(p) AS attributes,
       (SELECT b.local_image_path FROM brands b WHERE b.image_url = p.brand_image_url ORDER BY b.id LIMIT 1) AS local_brand_image_path
  FROM v_products v
  JOIN store_products p ON p.id = v.id
 WHERE v.id = $1;
