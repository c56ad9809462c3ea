-- products/known_units.sql: units and sizes of a store's products. $1 store, $2 platform, $3 the platform's ids
SELECT p.provider_product_id, p.thc_unit, p.cbd_unit,
       ARRAY (SELECT v.option_label FROM store_product_variants v
               WHERE v.store_product_id = p.id AND v.size_mg IS NOT NULL ORDER BY v.option_label, v.nth) AS labels,
       ARRAY (SELECT v.nth FROM store_product_variants v
               WHERE v.store_product_id = p.id AND v.size_mg IS NOT NULL ORDER BY v.option_label, v.nth) AS nths,
       ARRAY (SELECT v.size_mg FROM store_product_variants v
               WHERE v.store_product_id = p.id AND v.size_mg IS NOT NULL ORDER BY v.option_label, v.nth) AS sizes
  FROM store_products p
 WHERE p.dispensary_id = $1 AND p.provider = $2 AND p.provider_product_id = ANY ($3::text[])
