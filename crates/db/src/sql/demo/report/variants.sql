-- demo/report/variants.sql: the variants of every product of a platform. $1 platform
SELECT v.*
  FROM store_product_variants v
  JOIN store_products p ON p.id = v.store_product_id
  JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE d.platform = $1
 ORDER BY v.store_product_id, v.option_label COLLATE "C", v.nth
