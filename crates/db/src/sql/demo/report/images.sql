-- demo/report/images.sql: locations of the images of a platform's products and of all brands. $1 platform
SELECT image_url, local_image_path FROM store_products p JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE d.platform = $1 AND image_url IS NOT NULL
UNION ALL
SELECT image_url, local_image_path FROM brands WHERE image_url IS NOT NULL;
