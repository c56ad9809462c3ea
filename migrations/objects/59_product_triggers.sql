-- The triggers of products, apart from their functions: creating one locks its table against writers.

CREATE OR REPLACE TRIGGER forget_hash
  BEFORE UPDATE OF enterprise_product_id, name_raw, brand_name_raw, category, subcategory, strain_type, price_rec, price_med,
                   special_price_rec, special_price_med, is_on_special, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit, quantity,
                   quantity_censored, is_in_stock, stock_status, upstream_status, image_url, brand_image_url, specials_hash
  ON store_products FOR EACH ROW
  WHEN (current_setting('drover.own', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION store_products_forget_hash();

CREATE OR REPLACE TRIGGER forget_hash AFTER INSERT OR UPDATE OR DELETE ON store_product_variants FOR EACH ROW
  WHEN (current_setting('drover.own', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION store_product_variants_forget_hash();
