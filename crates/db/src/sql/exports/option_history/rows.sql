-- exports/option_history/rows.sql: the history of products, in their order, by option and time. $label, $nth, $at and $crawl: the last row
-- read of the first product. Each product is sorted by itself: so the first rows need no sort of all
SELECT h.place, o.option_label, o.nth, o.crawl_id, o.crawled_at, o.size_mg, o.size_ml, o.price_rec, o.price_med, o.special_price_rec,
       o.special_price_med, o.quantity, o.quantity_censored, o.is_in_stock, o.gone, o.rec_per_g, o.med_per_g, o.rec_per_ml, o.med_per_ml,
       o.rec_per_mg_thc, o.med_per_mg_thc, o.unit_basis,
       coalesce(least(o.price_rec, o.special_price_rec), least(o.price_med, o.special_price_med)) AS price
  FROM unnest($products::bigint[]) WITH ORDINALITY AS h (id, place)
 CROSS JOIN LATERAL (
       SELECT *
         FROM store_product_variant_history o
        WHERE o.store_product_id = h.id
          AND ($since::timestamptz IS NULL OR o.crawled_at >= $since)
          AND ($until::timestamptz IS NULL OR o.crawled_at < $until)
          AND (h.place > 1 OR $label::text IS NULL
               OR (o.option_label COLLATE "C", o.nth, o.crawled_at, o.crawl_id) > ($label, $nth, $at, $crawl))
        ORDER BY o.option_label COLLATE "C", o.nth, o.crawled_at, o.crawl_id) o
 LIMIT $limit
