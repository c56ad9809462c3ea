-- exports/options/rows.sql: the options of products, in their order, by label. $label, $nth: the last option read of the first product.
SELECT h.place, o.option_label, o.nth, o.position, o.size_mg, o.size_ml,
       coalesce(least(o.price_rec, o.special_price_rec), least(o.price_med, o.special_price_med)) AS price, o.price_rec, o.price_med,
       o.special_price_rec, o.special_price_med, o.quantity, o.quantity_censored, o.is_in_stock, o.rec_per_g, o.med_per_g, o.rec_per_ml,
       o.med_per_ml, o.rec_per_mg_thc, o.med_per_mg_thc, o.thc_mg, o.unit_basis, o.no_unit_price, o.no_thc_price,
       o.bundle_quantity, o.bundle_total, o.bundle_per_g
  FROM unnest($products::bigint[]) WITH ORDINALITY AS h (id, place)
 CROSS JOIN LATERAL (
       SELECT *
         FROM store_product_variants o
        WHERE o.store_product_id = h.id
          AND (h.place > 1 OR $label::text IS NULL OR (o.option_label COLLATE "C", o.nth) > ($label, $nth))
        ORDER BY o.option_label COLLATE "C", o.nth) o
 LIMIT $limit
