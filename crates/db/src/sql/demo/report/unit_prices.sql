-- demo/report/unit_prices.sql: the prices by unit of every option of a platform's products. $1 platform
SELECT d.platform_dispensary_id, p.provider_product_id, v.option_label, v.nth, v.rec_per_g, v.med_per_g, v.rec_per_ml, v.med_per_ml,
       v.rec_per_mg_thc, v.med_per_mg_thc, v.thc_mg, v.unit_basis, v.no_unit_price, v.no_thc_price, v.bundle_quantity,
       v.bundle_total, v.bundle_per_g
  FROM store_product_variants v
  JOIN store_products p ON p.id = v.store_product_id
  JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE p.provider = $1;
