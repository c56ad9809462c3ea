-- products/known_units.sql: units and sizes of a store's products. $1 store, $2 platform, $3 the platform's ids
SELECT p.provider_product_id, p.thc_unit, p.cbd_unit, v.labels, v.nths, v.sizes
  FROM store_products p
 CROSS JOIN LATERAL (
       SELECT coalesce(array_agg(o.option_label ORDER BY o.option_label, o.nth), '{}') AS labels,
              coalesce(array_agg(o.nth ORDER BY o.option_label, o.nth), '{}') AS nths,
              coalesce(array_agg(o.size_mg ORDER BY o.option_label, o.nth), '{}') AS sizes
         FROM store_product_variants o
        WHERE o.store_product_id = p.id AND o.size_mg IS NOT NULL) v
 WHERE p.dispensary_id = $1 AND p.provider = $2 AND p.provider_product_id = ANY ($3::text[])
