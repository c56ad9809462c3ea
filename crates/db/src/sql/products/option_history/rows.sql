-- products/option_history/rows.sql: the history of products, in their order, by option and time. $label, $nth, $at and
-- $crawl: the last row read of the first product. Each product is sorted by itself: so the first rows need no sort of all
SELECT p.place, h.option_label, h.nth, h.crawl_id, h.crawled_at, h.size_mg, h.size_ml, h.price_rec, h.price_med, h.special_price_rec,
       h.special_price_med, h.quantity, h.quantity_censored, h.is_in_stock, h.gone, h.rec_per_g, h.med_per_g, h.rec_per_ml, h.med_per_ml,
       h.rec_per_mg_thc, h.med_per_mg_thc, h.unit_basis
  FROM unnest($products::bigint[]) WITH ORDINALITY AS p (id, place)
 CROSS JOIN LATERAL (
       SELECT *
         FROM store_product_variant_history h
        WHERE h.store_product_id = p.id
          AND ($since::timestamptz IS NULL OR h.crawled_at >= $since)
          AND ($until::timestamptz IS NULL OR h.crawled_at < $until)
          AND (p.place > 1 OR $label::text IS NULL
               OR (h.option_label COLLATE "C", h.nth, h.crawled_at, h.crawl_id) > ($label, $nth, $at, $crawl))
        ORDER BY h.option_label COLLATE "C", h.nth, h.crawled_at, h.crawl_id) h
 LIMIT $limit
