-- products/images/of_product.sql: $1 id
SELECT local_image_path, image_url FROM store_products WHERE id = $1;
