-- products/find.sql: the ids of the products that a store already has. $1 store, $2 platform, $3 the platform's ids
SELECT provider_product_id, id FROM store_products WHERE dispensary_id = $1 AND provider = $2 AND provider_product_id = ANY($3);
