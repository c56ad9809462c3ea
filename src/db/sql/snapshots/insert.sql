-- snapshots/insert.sql: one row a product and crawl; what is there already stays. $1 payload (column crawl_id), $2 when it was
-- fetched, then one array a column
INSERT INTO store_product_snapshots
       (store_product_id, crawl_id, crawled_at, price_rec, price_med, special_price_rec, special_price_med, is_on_special, quantity,
        quantity_censored, is_in_stock, stock_status, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit)
SELECT f.store_product_id, $1, $2, f.price_rec, f.price_med, f.special_price_rec, f.special_price_med, f.is_on_special, f.quantity,
       f.quantity_censored, f.is_in_stock, f.stock_status, f.thc_min, f.thc_max, f.thc_unit, f.cbd_min, f.cbd_max, f.cbd_unit
  FROM unnest($3::bigint[], $4::int[], $5::int[], $6::int[], $7::int[], $8::bool[], $9::int[], $10::bool[], $11::bool[], $12::text[],
              $13::float8[], $14::float8[], $15::text[], $16::float8[], $17::float8[], $18::text[])
    AS f (store_product_id, price_rec, price_med, special_price_rec, special_price_med, is_on_special, quantity, quantity_censored,
          is_in_stock, stock_status, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit)
    ON CONFLICT DO NOTHING;
