-- products/option_history/walk.sql: the next products in the order of their ids, among the $max_walked after $after.
SELECT p.id, p.dispensary_id, d.name AS store, d.state, p.name_raw, p.brand_name_raw, p.category, p.subcategory
  FROM (SELECT id, dispensary_id, name_raw, brand_name_raw, category, subcategory, canonical_category
          FROM store_products
         WHERE id > $after
         ORDER BY id
         LIMIT $max_walked) p
{products/option_history/listed.sql}
