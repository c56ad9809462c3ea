-- images/stored_logos.sql: where the logos of brands are stored
SELECT local_image_path FROM brands WHERE local_image_path IS NOT NULL;
