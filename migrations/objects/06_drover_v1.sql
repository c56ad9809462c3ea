-- The schema drover_v1: what analysts read; 07 has its function. Its views only grow: no column is renamed or removed, and none changes its type. Their words are
-- those of the API and the export. They call no function of drover's: a view reads tables with its owner's rights, and calls functions with
-- those of its reader, who has none here. They read no table of the queue: a long report holds up no change of it. They come before the
-- triggers: a migration that waits for a reader holds no lock of the queue.

DO $$
BEGIN
  IF to_regnamespace('drover_v1') IS NOT NULL THEN RETURN; END IF;
  IF NOT has_database_privilege(current_database(), 'CREATE') THEN
    RAISE insufficient_privilege USING MESSAGE = format(
      'drover needs a schema drover_v1: let the owner of the database run CREATE SCHEMA drover_v1 AUTHORIZATION %I', current_user);
  END IF;
  CREATE SCHEMA drover_v1;
END $$;

CREATE OR REPLACE VIEW drover_v1.stores AS
SELECT d.id AS store_id, d.name AS store, d.platform, d.platform_dispensary_id, d.slug, d.menu_url, d.address, d.city, d.state, d.zip,
       d.latitude, d.longitude, d.phone, d.timezone, d.is_recreational, d.is_medical, d.groups, d.crawl_enabled, d.last_crawl_at,
       d.last_complete_at,
       -- subqueries: a statement that does not name these columns does not pay for them
       (SELECT CASE WHEN r.total_count > 0 THEN r.coverage END FROM raw_crawl_payloads r WHERE r.id = d.last_payload_id) AS last_coverage,
       (SELECT count(*) FROM store_products p WHERE p.dispensary_id = d.id) AS products,
       (SELECT count(*) FROM store_products p WHERE p.dispensary_id = d.id AND p.is_in_stock) AS in_stock,
       (SELECT count(*) FROM store_products p WHERE p.dispensary_id = d.id AND p.is_in_stock AND p.is_on_special) AS on_special,
       d.created_at
  FROM dispensaries d;

CREATE OR REPLACE VIEW drover_v1.products AS
SELECT p.dispensary_id AS store_id, d.name AS store, d.city, d.state, p.id AS product_id, p.name_raw AS product, p.brand_name_raw AS brand,
       p.category, p.subcategory, p.canonical_category, p.strain_type,
       coalesce(least(p.price_rec, p.special_price_rec), least(p.price_med, p.special_price_med)) AS price, p.price_rec,
       p.price_med, p.special_price_rec, p.special_price_med, p.is_on_special, p.quantity, p.quantity_censored, p.is_in_stock,
       p.stock_status, p.consecutive_misses, p.thc_min, p.thc_max, p.thc_unit, p.cbd_min, p.cbd_max, p.cbd_unit, p.image_url,
       p.provider AS platform, p.provider_product_id, p.enterprise_product_id, p.first_seen_at,
       -- a row without a miss was last seen by its store's latest complete crawl
       CASE WHEN p.consecutive_misses = 0 THEN greatest(p.last_seen_at, d.last_complete_at) ELSE p.last_seen_at END AS last_seen_at,
       p.updated_at,
       -- no function: it would read the table with the rights of the reader
       (SELECT a.attributes::jsonb FROM store_attributes a WHERE a.dispensary_id = p.dispensary_id AND a.hash = p.attributes_hash) AS attributes
  FROM store_products p
 -- OFFSET 0: the store of each product by its key, whatever the statistics say; a join might read all products once a store
 CROSS JOIN LATERAL (SELECT d.name, d.city, d.state, d.last_complete_at FROM dispensaries d WHERE d.id = p.dispensary_id OFFSET 0) d;

CREATE OR REPLACE VIEW drover_v1.options AS
SELECT p.dispensary_id AS store_id, d.name AS store, d.city, d.state, p.id AS product_id, p.name_raw AS product, p.brand_name_raw AS brand,
       p.category, p.subcategory, p.canonical_category, o.option_label, o.nth, o.position, o.size_mg, o.size_ml,
       coalesce(least(o.price_rec, o.special_price_rec), least(o.price_med, o.special_price_med)) AS price,
       o.price_rec, o.price_med, o.special_price_rec, o.special_price_med, o.quantity, o.quantity_censored, o.is_in_stock, o.rec_per_g,
       o.med_per_g, o.rec_per_ml, o.med_per_ml, o.rec_per_mg_thc, o.med_per_mg_thc, o.thc_mg, o.unit_basis, o.no_unit_price, o.no_thc_price,
       o.bundle_quantity, o.bundle_total, o.bundle_per_g
  FROM store_products p
 -- OFFSET 0: the store and the options of each product by its key, likewise
 CROSS JOIN LATERAL (SELECT d.name, d.city, d.state FROM dispensaries d WHERE d.id = p.dispensary_id OFFSET 0) d
 CROSS JOIN LATERAL (SELECT * FROM store_product_variants o WHERE o.store_product_id = p.id OFFSET 0) o;

CREATE OR REPLACE VIEW drover_v1.option_prices AS
SELECT p.dispensary_id AS store_id, d.name AS store, d.city, d.state, p.id AS product_id, p.name_raw AS product, p.brand_name_raw AS brand,
       p.category, p.subcategory, p.canonical_category, h.option_label, h.nth, h.crawl_id, h.crawled_at, h.size_mg, h.size_ml,
       coalesce(least(h.price_rec, h.special_price_rec), least(h.price_med, h.special_price_med)) AS price,
       h.price_rec, h.price_med, h.special_price_rec, h.special_price_med, h.quantity, h.quantity_censored, h.is_in_stock, h.gone,
       h.rec_per_g, h.med_per_g, h.rec_per_ml, h.med_per_ml, h.rec_per_mg_thc, h.med_per_mg_thc, h.unit_basis
  FROM store_product_variant_history h
  JOIN store_products p ON p.id = h.store_product_id
 CROSS JOIN LATERAL (SELECT d.name, d.city, d.state FROM dispensaries d WHERE d.id = p.dispensary_id OFFSET 0) d;

CREATE OR REPLACE VIEW drover_v1.changes AS
SELECT b.seq, c.n, c.kind::text AS kind, b.dispensary_id AS store_id, d.name AS store, d.city, d.state, c.store_product_id AS product_id,
       p.name_raw AS product, p.brand_name_raw AS brand, p.category, p.subcategory, p.canonical_category, c.option_label, c.nth,
       b.crawled_at, c.cents, round(c.percent::numeric, 2) AS percent, c.old_rec, c.new_rec, c.old_med, c.new_med, c.old_special_rec,
       c.new_special_rec,
       c.old_special_med, c.new_special_med, c.old_quantity, c.new_quantity,
       coalesce(c.old_quantity_censored, false) AS old_quantity_censored, coalesce(c.new_quantity_censored, false) AS new_quantity_censored
  FROM change_batches b
 -- OFFSET 0: the store of each crawl, and its changes, likewise
 CROSS JOIN LATERAL (SELECT d.name, d.city, d.state FROM dispensaries d WHERE d.id = b.dispensary_id OFFSET 0) d
 CROSS JOIN LATERAL (SELECT * FROM product_changes c WHERE c.crawl_id = b.crawl_id AND c.crawled_at = b.crawled_at OFFSET 0) c
  LEFT JOIN store_products p ON p.id = c.store_product_id
 WHERE b.seq IS NOT NULL;
