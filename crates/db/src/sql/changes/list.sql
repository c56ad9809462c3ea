-- changes/list.sql: the changes beyond ($seq, $n), by age, in batches from $least to $greatest. Planned for its values; each batch is
-- read by its key, whatever the statistics say. $brand and $category: names in any letter case.
SELECT b.seq, c.n, c.kind::text AS kind, d.id AS store_id, d.name AS store, c.store_product_id AS product_id, c.product, c.brand, c.category,
       c.option_label, c.nth, c.old_rec, c.new_rec, c.old_med, c.new_med, c.old_special_rec, c.new_special_rec, c.old_special_med,
       c.new_special_med, c.old_quantity, c.new_quantity, c.old_quantity_censored, c.new_quantity_censored, c.cents,
       round(c.percent::numeric, 2)::float8 AS percent, json_time(c.crawled_at) AS crawled_at
  FROM change_batches b
  JOIN dispensaries d ON d.id = b.dispensary_id
 CROSS JOIN LATERAL (
         SELECT c.*, p.name_raw AS product, p.brand_name_raw AS brand, p.category
           FROM product_changes c
           LEFT JOIN store_products p ON p.id = c.store_product_id
          WHERE c.crawl_id = b.crawl_id
            AND c.crawled_at = b.crawled_at
            AND (b.seq <> $seq OR c.n {beyond} $n)
            AND ($kinds::text[] IS NULL OR c.kind = ANY ($kinds::change_kind[]))
            AND ($brand::text IS NULL OR brand_key(p.brand_name_raw) = brand_key($brand))
            AND ($category::text IS NULL OR is_of_category($category, p.category, p.canonical_category))
            AND ($min_percent::float8 IS NULL OR abs(c.percent::numeric) >= $min_percent::numeric)
            AND ($min_cents::int IS NULL OR abs(c.cents) >= $min_cents)
            AND ($product::bigint IS NULL OR c.store_product_id = $product)
            AND ($max_price::int IS NULL OR least(c.new_rec, c.new_med, c.new_special_rec, c.new_special_med) <= $max_price)
            AND ($max_unit_price::bigint IS NULL OR EXISTS (
                  SELECT FROM store_product_variant_history h
                   WHERE h.store_product_id = c.store_product_id AND h.option_label = c.option_label AND h.nth = c.nth
                     AND h.crawl_id = c.crawl_id AND h.crawled_at = c.crawled_at
                     AND coalesce(h.rec_per_g, h.med_per_g) <= $max_unit_price))
          ORDER BY c.n {direction}
          LIMIT $limit) c
 WHERE b.seq BETWEEN $least AND $greatest
   AND ($store::bigint IS NULL OR b.dispensary_id = $store)
   AND ($group::text IS NULL OR $group = ANY (d.groups))
   AND ($state::text IS NULL OR d.state = $state)
 ORDER BY b.seq {direction}, c.n {direction}
 LIMIT $limit;
