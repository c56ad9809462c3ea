-- The triggers of products, apart from their functions: creating one locks its table against writers.

CREATE OR REPLACE TRIGGER forget_hash BEFORE UPDATE ON store_products FOR EACH ROW
  WHEN (current_setting('xmlbinary') <> 'hex')
  EXECUTE FUNCTION store_products_forget_hash();

CREATE OR REPLACE TRIGGER forget_hash AFTER INSERT OR UPDATE OR DELETE ON store_product_variants FOR EACH ROW
  WHEN (current_setting('xmlbinary') <> 'hex')
  EXECUTE FUNCTION store_product_variants_forget_hash();
