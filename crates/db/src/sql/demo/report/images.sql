-- demo/report/images.sql: locations of the images of all products and brands
SELECT image_url, local_image_path FROM store_products WHERE image_url IS NOT NULL
UNION ALL
SELECT image_url, local_image_path FROM brands WHERE image_url IS NOT NULL;
