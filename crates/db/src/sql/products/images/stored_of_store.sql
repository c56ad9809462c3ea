-- products/images/stored_of_store.sql: paths of the stored images of a store's products. $1 store
SELECT local_image_path FROM store_products WHERE dispensary_id = $1 AND local_image_path IS NOT NULL;
