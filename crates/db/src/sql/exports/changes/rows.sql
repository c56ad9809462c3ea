-- exports/changes/rows.sql: the changes of crawls, in their order. $n: the last change read of the first crawl. The prices by unit after a change
-- are those that the history has for its crawl.
SELECT h.place, c.n, c.kind::text AS kind, c.store_product_id AS product_id, c.product, c.brand, c.category, c.subcategory,
       c.canonical_category, c.option_label, c.nth, c.cents, round(c.percent::numeric, 2)::float8 AS percent, c.old_rec, c.new_rec, c.old_med,
       c.new_med, c.old_special_rec, c.new_special_rec, c.old_special_med, c.new_special_med, c.old_quantity, c.new_quantity,
       coalesce(c.old_quantity_censored, false) AS old_quantity_censored, coalesce(c.new_quantity_censored, false) AS new_quantity_censored,
       c.new_rec_per_g, c.new_med_per_g, c.new_rec_per_mg_thc, c.new_med_per_mg_thc, c.unit_basis
  FROM unnest($crawls::bigint[], $times::timestamptz[]) WITH ORDINALITY AS h (crawl_id, crawled_at, place)
 CROSS JOIN LATERAL (
       SELECT c.*, p.product, p.brand, p.category, p.subcategory, p.canonical_category, o.rec_per_g AS new_rec_per_g,
              o.med_per_g AS new_med_per_g, o.rec_per_mg_thc AS new_rec_per_mg_thc, o.med_per_mg_thc AS new_med_per_mg_thc, o.unit_basis
         FROM product_changes c
         LEFT JOIN LATERAL (
              -- OFFSET 0: the product of each change by its key
              SELECT p.name_raw AS product, p.brand_name_raw AS brand, p.category, p.subcategory, p.canonical_category
                FROM store_products p
               WHERE p.id = c.store_product_id
              OFFSET 0) p ON true
         LEFT JOIN LATERAL (
              SELECT o.rec_per_g, o.med_per_g, o.rec_per_mg_thc, o.med_per_mg_thc, o.unit_basis
                FROM store_product_variant_history o
               WHERE o.store_product_id = c.store_product_id AND o.option_label = c.option_label AND o.nth = c.nth
                 AND o.crawl_id = c.crawl_id AND o.crawled_at = c.crawled_at
              OFFSET 0) o ON true
        WHERE c.crawl_id = h.crawl_id
          AND c.crawled_at = h.crawled_at
          AND (h.place > 1 OR $n::int IS NULL OR c.n > $n)
          AND ($kinds::text[] IS NULL OR c.kind = ANY ($kinds::change_kind[]))
          AND ($product::bigint IS NULL OR c.store_product_id = $product)
          AND ($min_percent::float8 IS NULL OR abs(c.percent::numeric) >= $min_percent::numeric)
          AND ($min_cents::int IS NULL OR abs(c.cents) >= $min_cents)
          AND ($max_price::int IS NULL OR least(c.new_rec, c.new_med, c.new_special_rec, c.new_special_med) <= $max_price)
          AND ($brand::text IS NULL OR brand_key(p.brand) = brand_key($brand))
          AND ($category::text IS NULL OR is_of_category($category, p.category, p.canonical_category))
          AND ($max_unit_price::bigint IS NULL OR coalesce(o.rec_per_g, o.med_per_g) <= $max_unit_price)
        ORDER BY c.n) c
 LIMIT $limit
