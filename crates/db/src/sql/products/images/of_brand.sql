-- products/images/of_brand.sql: $1 slug
SELECT local_image_path, image_url FROM brands WHERE slug = $1;
