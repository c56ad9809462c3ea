-- products/variant_history/last_of_gone.sql: the last state of variants that had left their products' menus. $1 products,
-- $2 labels, $3 numbers
SELECT h.store_product_id, h.option_label, h.nth, h.size_mg, h.size_ml, h.price_rec, h.price_med, h.special_price_rec,
       h.special_price_med, h.quantity, h.quantity_censored, h.is_in_stock
  FROM unnest($1::bigint[], $2::text[], $3::smallint[]) AS f (store_product_id, option_label, nth)
 CROSS JOIN LATERAL (
         SELECT * FROM store_product_variant_history h
          WHERE h.store_product_id = f.store_product_id AND h.option_label = f.option_label AND h.nth = f.nth
          ORDER BY h.crawled_at DESC, h.crawl_id DESC
          LIMIT 1) h
 WHERE h.gone;
