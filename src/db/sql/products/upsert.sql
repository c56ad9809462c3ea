-- products/upsert.sql: brings a store's rows to what the payload says and answers, in its order, with each product's id and what became
-- of it. Needs the store's row locked. $1 store, $2 platform, $3 when the payload was fetched, $4 misses of the rows written, then one
-- array a column
WITH matched AS MATERIALIZED (      -- joined once and by index; ids are drawn here, so that nothing has to be joined again
  SELECT f.*, coalesce(p.id, nextval('store_products_id_seq')) AS id, p.is_in_stock AS was_in_stock,
         (p.enterprise_product_id, p.name_raw, p.brand_name_raw, p.category, p.subcategory, p.strain_type, p.price_rec, p.price_med,
          p.special_price_rec, p.special_price_med, p.is_on_special, p.thc_min, p.thc_max, p.thc_unit, p.cbd_min, p.cbd_max,
          p.cbd_unit, p.quantity, p.quantity_censored, p.is_in_stock, p.stock_status, p.image_url, p.brand_image_url, p.specials,
          p.upstream_created_at, p.consecutive_misses)
         IS DISTINCT FROM
         (f.enterprise_product_id, f.name_raw, f.brand_name_raw, f.category, f.subcategory, f.strain_type, f.price_rec, f.price_med,
          f.special_price_rec, f.special_price_med, f.is_on_special, f.thc_min, f.thc_max, f.thc_unit, f.cbd_min, f.cbd_max,
          f.cbd_unit, f.quantity, f.quantity_censored, f.is_in_stock, f.stock_status, f.image_url, f.brand_image_url, f.specials,
          -- upstream_updated_at alone is no change: a sync of the shop's point-of-sale system moves it
          f.upstream_created_at, $4::smallint) AS differs
    FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::int[], $13::int[], $14::int[],
                $15::int[], $16::bool[], $17::float8[], $18::float8[], $19::text[], $20::float8[], $21::float8[], $22::text[], $23::int[],
                $24::bool[], $25::bool[], $26::text[], $27::text[], $28::text[], $29::text[]::jsonb[], $30::timestamptz[], $31::timestamptz[])
         WITH ORDINALITY
      AS f (provider_product_id, enterprise_product_id, name_raw, brand_name_raw, category, subcategory, strain_type, price_rec,
            price_med, special_price_rec, special_price_med, is_on_special, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit,
            quantity, quantity_censored, is_in_stock, stock_status, image_url, brand_image_url, specials, upstream_created_at,
            upstream_updated_at, n)
    LEFT JOIN store_products p ON p.dispensary_id = $1 AND p.provider = $2 AND p.provider_product_id = f.provider_product_id
),
changed AS (
  UPDATE store_products p
     SET enterprise_product_id = m.enterprise_product_id, name_raw = m.name_raw, brand_name_raw = m.brand_name_raw,
         category = m.category, subcategory = m.subcategory, strain_type = m.strain_type, price_rec = m.price_rec,
         price_med = m.price_med, special_price_rec = m.special_price_rec, special_price_med = m.special_price_med,
         is_on_special = m.is_on_special, thc_min = m.thc_min, thc_max = m.thc_max, thc_unit = m.thc_unit, cbd_min = m.cbd_min,
         cbd_max = m.cbd_max, cbd_unit = m.cbd_unit, quantity = m.quantity, quantity_censored = m.quantity_censored,
         is_in_stock = m.is_in_stock, stock_status = m.stock_status, image_url = m.image_url,
         brand_image_url = m.brand_image_url, specials = m.specials, upstream_created_at = m.upstream_created_at,
         upstream_updated_at = m.upstream_updated_at, consecutive_misses = $4, last_seen_at = $3, updated_at = now()
    FROM matched m
   WHERE p.id = m.id AND m.differs AND m.was_in_stock IS NOT NULL
),
added AS (
  INSERT INTO store_products
         (id, dispensary_id, provider, provider_product_id, enterprise_product_id, name_raw, brand_name_raw, category, subcategory,
          strain_type, price_rec, price_med, special_price_rec, special_price_med, is_on_special, thc_min, thc_max, thc_unit,
          cbd_min, cbd_max, cbd_unit, quantity, quantity_censored, is_in_stock, stock_status, image_url, brand_image_url, specials,
          upstream_created_at, upstream_updated_at, consecutive_misses, first_seen_at, last_seen_at)
  SELECT m.id, $1, $2, m.provider_product_id, m.enterprise_product_id, m.name_raw, m.brand_name_raw, m.category, m.subcategory,
         m.strain_type, m.price_rec, m.price_med, m.special_price_rec, m.special_price_med, m.is_on_special, m.thc_min, m.thc_max,
         m.thc_unit, m.cbd_min, m.cbd_max, m.cbd_unit, m.quantity, m.quantity_censored, m.is_in_stock, m.stock_status, m.image_url,
         m.brand_image_url, m.specials, m.upstream_created_at, m.upstream_updated_at, $4, $3, $3
    FROM matched m
   WHERE m.was_in_stock IS NULL
)
SELECT id, was_in_stock, differs FROM matched ORDER BY n;
