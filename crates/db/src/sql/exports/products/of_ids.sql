-- exports/products/of_ids.sql: the products that a search found, in its order.
SELECT p.store_id, d.name AS store, d.city, d.state, p.product_id, p.product, p.brand, p.category, p.subcategory, p.canonical_category
  FROM unnest($ids::bigint[]) WITH ORDINALITY AS f (id, place)
 CROSS JOIN LATERAL (
       SELECT p.id AS product_id, p.dispensary_id AS store_id, p.name_raw AS product, p.brand_name_raw AS brand, p.category, p.subcategory,
              p.canonical_category, p.is_in_stock, p.is_on_special, current_price(p) AS price
         FROM store_products p
        WHERE p.id = f.id
       OFFSET 0) p
 CROSS JOIN LATERAL (SELECT d.name, d.city, d.state, d.groups FROM dispensaries d WHERE d.id = p.store_id OFFSET 0) d
 WHERE {exports/products/filters.sql}
   AND ($group::text IS NULL OR $group = ANY (d.groups))
 ORDER BY f.place
