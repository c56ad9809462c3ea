-- products/option_history/of_store.sql: the next products of one store in the order of their ids.
SELECT p.id, p.dispensary_id, d.name AS store, d.state, p.name_raw, p.brand_name_raw, p.category, p.subcategory
  FROM (SELECT id, dispensary_id, name_raw, brand_name_raw, category, subcategory, canonical_category
          FROM store_products
         WHERE dispensary_id = $store
        OFFSET 0) p      -- by the key of stores: a walk by id would pass the products of all stores
{products/option_history/listed.sql}
