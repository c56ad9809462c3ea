-- products/exist.sql: whether a store has ever had a product. $1 store, $2 provider
SELECT EXISTS (SELECT FROM store_products WHERE dispensary_id = $1 AND provider = $2);
