-- products/images/stored_logos.sql: paths of the stored logos of brands
SELECT local_image_path FROM brands WHERE local_image_path IS NOT NULL;
