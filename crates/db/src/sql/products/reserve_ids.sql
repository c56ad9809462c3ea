-- products/reserve_ids.sql: ids for new products. $1 how many
SELECT ARRAY(SELECT nextval('store_products_id_seq') FROM generate_series(1, $1::bigint));
