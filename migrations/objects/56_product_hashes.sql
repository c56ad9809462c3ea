-- A product or option that anything but a refresh changes has an unknown hash: the next refresh of its store writes it again.
CREATE OR REPLACE FUNCTION store_products_forget_hash() RETURNS trigger LANGUAGE plpgsql AS $f$
DECLARE
  -- Keys, and columns that no menu sets. All others are compared: a new one needs no line here.
  bookkeeping CONSTANT text[] := '{id, dispensary_id, provider, provider_product_id, consecutive_misses, local_image_path, content_hash,
                                   first_seen_at, last_seen_at, updated_at}';
BEGIN
  IF to_jsonb(NEW) - bookkeeping <> to_jsonb(OLD) - bookkeeping THEN NEW.content_hash := NULL; END IF;
  RETURN NEW;
END $f$;

CREATE OR REPLACE FUNCTION store_product_variants_forget_hash() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  UPDATE store_products p SET content_hash = NULL
   WHERE p.id = CASE TG_OP WHEN 'DELETE' THEN OLD.store_product_id ELSE NEW.store_product_id END;
  RETURN NULL;
END $f$;
