-- The triggers of stored paths, apart from their functions: creating one locks its table against writers. drover's own writes fail the
-- conditions, and call nothing.

CREATE OR REPLACE TRIGGER relative_image BEFORE INSERT OR UPDATE OF local_image_path ON store_products FOR EACH ROW
  WHEN (NEW.local_image_path LIKE '/%')
  EXECUTE FUNCTION write_relative_image();

CREATE OR REPLACE TRIGGER relative_image BEFORE INSERT OR UPDATE OF local_image_path ON brands FOR EACH ROW
  WHEN (NEW.local_image_path LIKE '/%')
  EXECUTE FUNCTION write_relative_image();

CREATE OR REPLACE TRIGGER relative_payload BEFORE INSERT OR UPDATE OF storage_path ON raw_crawl_payloads FOR EACH ROW
  WHEN (NEW.storage_path LIKE '/%')
  EXECUTE FUNCTION write_relative_payload();
