-- exports/products/of_stores.sql: the next products of stores, in the order of the stores, by id. $after: the last product that was read of
-- the first store.
SELECT s.id AS store_id, d.name AS store, d.city, d.state, p.product_id, p.product, p.brand, p.category, p.subcategory, p.canonical_category
  FROM unnest($stores::bigint[]) WITH ORDINALITY AS s (id, place)
 CROSS JOIN LATERAL (SELECT d.name, d.city, d.state FROM dispensaries d WHERE d.id = s.id OFFSET 0) d
 CROSS JOIN LATERAL (
       SELECT p.*
         FROM (SELECT p.id AS product_id, p.name_raw AS product, p.brand_name_raw AS brand, p.category, p.subcategory, p.canonical_category,
                      p.is_in_stock, p.is_on_special, current_price(p) AS price
                 FROM store_products p
                WHERE p.dispensary_id = s.id
               OFFSET 0) p      -- by the key of stores: a walk by id would pass the products of all stores
        WHERE (s.place > 1 OR p.product_id > $after)
          AND {exports/products/filters.sql}
        ORDER BY p.product_id) p
 LIMIT $limit
