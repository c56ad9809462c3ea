-- Sums of the rows of each store; snapshots: those of its latest crawl. The names are those of sums.rs.
WITH options AS (
  SELECT p.store, count(*) AS variants, sum(octet_length(o.label)) AS labels, sum(o.size_mg) AS size_mg, sum(round(o.size_ml)) AS size_ml,
         sum(o.rec) AS rec, sum(o.med) AS med, sum(o.special_rec) AS special_rec, sum(o.special_med) AS special_med,
         sum(o.quantity) AS quantity
    FROM products p,
         unnest(p.option_labels, p.option_size_mg, p.option_size_ml, p.option_rec, p.option_med, p.option_special_rec,
                p.option_special_med, p.option_quantity)
           AS o(label, size_mg, size_ml, rec, med, special_rec, special_med, quantity)
   GROUP BY p.store
), latest AS (
  SELECT s.store, count(*) AS snapshots, sum(s.price_rec) AS price_rec, sum(s.special_rec) AS special_rec, sum(s.quantity) AS quantity,
         count(*) FILTER (WHERE s.stock_status <> 'oos') AS in_stock,
         sum(coalesce(round(s.thc_min * 1000), 0) + coalesce(round(s.thc_max * 1000), 0)) AS thc
    FROM snapshots s
    JOIN (SELECT store, max(crawled_at) AS crawled_at FROM snapshots GROUP BY store) m USING (store, crawled_at)
   GROUP BY s.store
)
SELECT p.store, count(*) AS products,
       sum(char_length(concat(p.id, name, brand, category, subcategory, strain_type, image_url)))::bigint AS characters,
       coalesce(sum(p.price_rec), 0)::bigint AS price_rec, coalesce(sum(price_med), 0)::bigint AS price_med,
       coalesce(sum(p.special_rec), 0)::bigint AS special_rec, coalesce(sum(p.special_med), 0)::bigint AS special_med,
       count(*) FILTER (WHERE array_remove(option_special_rec || option_special_med, NULL) <> '{}') AS on_special,
       sum(coalesce(round(thc_min * 1000), 0) + coalesce(round(thc_max * 1000), 0))::bigint AS thc,
       sum(coalesce(round(cbd_min * 1000), 0) + coalesce(round(cbd_max * 1000), 0))::bigint AS cbd,
       coalesce(sum(p.quantity), 0)::bigint AS quantity, count(*) FILTER (WHERE quantity_censored) AS censored,
       count(*) FILTER (WHERE stock_status <> 'oos') AS in_stock, count(*) FILTER (WHERE stock_status = 'unknown') AS unknown_stock,
       o.variants, o.labels::bigint, coalesce(o.size_mg, 0)::bigint AS size_mg, coalesce(o.size_ml, 0)::bigint AS size_ml,
       coalesce(o.rec, 0)::bigint AS variant_price_rec, coalesce(o.med, 0)::bigint AS variant_price_med,
       coalesce(o.special_rec, 0)::bigint AS variant_special_rec, coalesce(o.special_med, 0)::bigint AS variant_special_med,
       coalesce(o.quantity, 0)::bigint AS variant_quantity,
       l.snapshots, coalesce(l.price_rec, 0)::bigint AS snapshot_price_rec, coalesce(l.special_rec, 0)::bigint AS snapshot_special_rec,
       coalesce(l.quantity, 0)::bigint AS snapshot_quantity, l.in_stock AS snapshot_in_stock, l.thc::bigint AS snapshot_thc
  FROM products p
  JOIN options o ON o.store = p.store
  JOIN latest l ON l.store = p.store
 GROUP BY p.store, o.store, o.variants, o.labels, o.size_mg, o.size_ml, o.rec, o.med, o.special_rec, o.special_med, o.quantity,
          l.snapshots, l.price_rec, l.special_rec, l.quantity, l.in_stock, l.thc
