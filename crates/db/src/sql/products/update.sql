-- products/update.sql: what a menu says of products that have a row; they are on it, so that they have no miss. $1 when it was fetched,
-- $2 ids, then one array a column
UPDATE store_products p
   SET consecutive_misses = 0, last_seen_at = $1, updated_at = now(), content_hash = f.content_hash,
       enterprise_product_id = f.enterprise_product_id, name_raw = f.name_raw, brand_name_raw = f.brand_name_raw,
       category = f.category, subcategory = f.subcategory, strain_type = f.strain_type, price_rec = f.price_rec,
       price_med = f.price_med, special_price_rec = f.special_price_rec, special_price_med = f.special_price_med,
       is_on_special = f.is_on_special, thc_min = f.thc_min, thc_max = f.thc_max, thc_unit = f.thc_unit, cbd_min = f.cbd_min,
       cbd_max = f.cbd_max, cbd_unit = f.cbd_unit, quantity = f.quantity, quantity_censored = f.quantity_censored,
       is_in_stock = f.is_in_stock, stock_status = f.stock_status, upstream_status = f.upstream_status, image_url = f.image_url,
       brand_image_url = f.brand_image_url, specials = NULL, specials_hash = f.specials_hash, upstream_created_at = f.upstream_created_at,
       upstream_updated_at = f.upstream_updated_at
  FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int[], $11::int[],
              $12::int[], $13::int[], $14::bool[], $15::float8[], $16::float8[], $17::text[], $18::float8[], $19::float8[], $20::text[],
              $21::int[], $22::bool[], $23::bool[], $24::text[], $25::text[], $26::text[], $27::text[], $28::bigint[],
              $29::timestamptz[], $30::timestamptz[])
    AS f (id, content_hash, enterprise_product_id, name_raw, brand_name_raw, category, subcategory, strain_type, price_rec,
          price_med, special_price_rec, special_price_med, is_on_special, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit,
          quantity, quantity_censored, is_in_stock, stock_status, upstream_status, image_url, brand_image_url, specials_hash,
          upstream_created_at, upstream_updated_at)
 WHERE p.id = f.id;
