-- images/stored_of_store.sql: where the images of a store's products are stored. $1 store
SELECT local_image_path FROM store_products WHERE dispensary_id = $1 AND local_image_path IS NOT NULL;
