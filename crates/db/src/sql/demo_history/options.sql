-- demo_history/options.sql: simulated prices of every option, 5 days ago; crawl_id below 0 marks
-- them. $1 seed
INSERT INTO store_product_variant_history
       (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec, price_med, special_price_rec,
        special_price_med, quantity, quantity_censored, is_in_stock, gone)
SELECT v.store_product_id, v.option_label, v.nth, -m.days, now() - make_interval(days => m.days), v.size_mg, v.size_ml,
       (v.price_rec * f.price)::int, (v.price_med * f.price)::int, (v.special_price_rec * f.price)::int, (v.special_price_med * f.price)::int,
       v.quantity, v.quantity_censored, v.is_in_stock, false
  FROM store_product_variants v
 CROSS JOIN (VALUES (5)) AS m(days)
 CROSS JOIN LATERAL (SELECT 1 + ((hashint8extended(v.store_product_id, $1::bigint + m.days) & 7) - 3.5) / 28 AS price) f
