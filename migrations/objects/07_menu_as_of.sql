-- The menu of a store at a time, for analysts. Readers have no right on the tables that it reads, so it reads them with its owner's: its
-- body is bound to them when it is created, whatever its reader's search_path has. Names and categories are those of now.
CREATE OR REPLACE FUNCTION drover_v1.menu_as_of(of_store bigint, at_time timestamptz)
RETURNS TABLE (
  store_id bigint, store text, city text, state text, crawl_id bigint, crawled_at timestamptz, product_id bigint, product text, brand text,
  category text, subcategory text, canonical_category text, option_label text, nth smallint, size_mg bigint, size_ml double precision,
  price integer, price_rec integer, price_med integer, special_price_rec integer, special_price_med integer, quantity integer,
  quantity_censored boolean, is_in_stock boolean, rec_per_g bigint, med_per_g bigint, rec_per_ml bigint, med_per_ml bigint,
  rec_per_mg_thc bigint, med_per_mg_thc bigint, unit_basis text, stock_status text, thc_min double precision, thc_max double precision,
  thc_unit text, cbd_min double precision, cbd_max double precision, cbd_unit text)
LANGUAGE sql STABLE SECURITY DEFINER SET enable_seqscan = off SET jit = off
BEGIN ATOMIC
  SELECT d.id, d.name, d.city, d.state, c.crawl_id, c.crawled_at, p.id, p.name_raw, p.brand_name_raw, p.category, p.subcategory,
         p.canonical_category, o.option_label, o.nth, o.size_mg, o.size_ml,
         coalesce(least(o.price_rec, o.special_price_rec), least(o.price_med, o.special_price_med)), o.price_rec, o.price_med,
         o.special_price_rec, o.special_price_med, o.quantity, o.quantity_censored, o.is_in_stock, o.rec_per_g, o.med_per_g, o.rec_per_ml,
         o.med_per_ml, o.rec_per_mg_thc, o.med_per_mg_thc, o.unit_basis, s.stock_status, s.thc_min, s.thc_max, s.thc_unit, s.cbd_min,
         s.cbd_max, s.cbd_unit
    FROM dispensaries d
   CROSS JOIN LATERAL (
           SELECT w.crawl_id, w.crawled_at FROM whole_crawls w
            WHERE w.dispensary_id = d.id AND w.crawled_at <= at_time
            ORDER BY w.crawled_at DESC, w.crawl_id DESC
            LIMIT 1) c
   -- OFFSET 0: the crawl's products, and the options of each by its key, whatever the statistics say
   CROSS JOIN LATERAL (
           SELECT * FROM store_product_snapshots s WHERE s.crawl_id = c.crawl_id AND s.crawled_at = c.crawled_at OFFSET 0) s
   CROSS JOIN LATERAL (SELECT * FROM store_products p WHERE p.id = s.store_product_id AND p.dispensary_id = d.id OFFSET 0) p
   CROSS JOIN LATERAL (
           SELECT l.option_label, l.nth, l.size_mg, l.size_ml, l.price_rec, l.price_med, l.special_price_rec, l.special_price_med,
                  l.quantity, l.quantity_censored, l.is_in_stock, l.rec_per_g, l.med_per_g, l.rec_per_ml, l.med_per_ml,
                  l.rec_per_mg_thc, l.med_per_mg_thc, l.unit_basis
             FROM (SELECT DISTINCT ON (h.option_label, h.nth) h.*
                     FROM store_product_variant_history h
                    WHERE h.store_product_id = p.id AND h.crawled_at <= c.crawled_at
                      AND (h.crawled_at, h.crawl_id) <= (c.crawled_at, c.crawl_id)
                    ORDER BY h.option_label, h.nth, h.crawled_at DESC, h.crawl_id DESC) l
            WHERE NOT l.gone
            UNION ALL
           -- retention removed its last change, so it is as it was
           SELECT v.option_label, v.nth, v.size_mg, v.size_ml, v.price_rec, v.price_med, v.special_price_rec, v.special_price_med,
                  v.quantity, v.quantity_censored, v.is_in_stock, v.rec_per_g, v.med_per_g, v.rec_per_ml, v.med_per_ml,
                  v.rec_per_mg_thc, v.med_per_mg_thc, v.unit_basis
             FROM store_product_variants v
            WHERE v.store_product_id = p.id
              AND NOT EXISTS (SELECT FROM store_product_variant_history h
                               WHERE h.store_product_id = v.store_product_id AND h.option_label = v.option_label AND h.nth = v.nth
                              OFFSET 0)
           OFFSET 0) o
   WHERE d.id = of_store;
END;

-- A database that was opened to readers before has no default that opens functions.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles r
              WHERE r.rolname = 'drover_reader' AND has_schema_privilege(r.oid, 'drover_v1', 'USAGE')) THEN
    GRANT EXECUTE ON FUNCTION drover_v1.menu_as_of(bigint, timestamptz) TO drover_reader;
  END IF;
END $$;
