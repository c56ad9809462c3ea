-- Comments of drover_v1, and who may execute drover's functions. A dump of the database has neither: `drover restore` runs this file again.

COMMENT ON SCHEMA drover_v1 IS 'Stores, products, options, their prices and changes, for analysts. Prices are integer cents, times timestamptz, unknown values null. Views only grow.';
COMMENT ON VIEW drover_v1.stores IS 'Stores, crawled or not. Key: store_id.';
COMMENT ON VIEW drover_v1.products IS 'Products as their stores list them now; those that left the menu stay, out of stock. Key: product_id.';
COMMENT ON VIEW drover_v1.options IS 'Options of products now, such as "1g" and "3.5g", each with its own price. Key: product_id, option_label, nth.';
COMMENT ON VIEW drover_v1.option_prices IS 'History of options: a row holds from crawled_at until the next row of the same option. Key: product_id, option_label, nth, crawl_id.';
COMMENT ON VIEW drover_v1.changes IS 'The published feed of changes. Key and order: seq, n.';
COMMENT ON FUNCTION drover_v1.menu_as_of(bigint, timestamptz) IS 'Menu of a store (store_id) at a time: the options that its last whole crawl until then showed; no row before its first one. crawl_id and crawled_at name that crawl. Prices, quantity, stock, size and unit prices are those of option_prices; stock_status and contents of THC and CBD are those of the product in that crawl; names and categories are those of now. Other columns are as in options. Key: product_id, option_label, nth.';

-- A word means the same in each view that has it.
DO $$
DECLARE described record;
BEGIN
  FOR described IN
    SELECT a.attrelid::regclass AS view, a.attname AS word, w.meaning
      FROM pg_attribute a
      JOIN pg_class v ON v.oid = a.attrelid AND v.relkind = 'v' AND v.relnamespace = 'drover_v1'::regnamespace
      JOIN (VALUES
        ('store_id', 'id of the store'),
        ('store', 'name of the store'),
        ('platform', 'menu platform that the store uses'),
        ('platform_dispensary_id', 'id of the store at its platform'),
        ('slug', 'last part of the address of the store''s menu'),
        ('menu_url', 'address of the store''s menu'),
        ('address', 'street address of the store'),
        ('city', 'city of the store'),
        ('state', 'state of the store, in two letters'),
        ('zip', 'postal code of the store'),
        ('latitude', 'latitude of the store, in degrees'),
        ('longitude', 'longitude of the store, in degrees'),
        ('phone', 'telephone number of the store'),
        ('timezone', 'IANA time zone of the store'),
        ('is_recreational', 'whether the store sells to adults'),
        ('is_medical', 'whether the store sells to patients'),
        ('groups', 'groups that an operator put the store in'),
        ('crawl_enabled', 'whether the store is crawled'),
        ('last_crawl_at', 'when a crawl last became products'),
        ('last_complete_at', 'time of the latest crawl of the whole menu'),
        ('last_coverage', 'share of the announced products that the latest crawl held, from 0 to 1'),
        ('products', 'number of the store''s products'),
        ('in_stock', 'number of the store''s products in stock'),
        ('on_special', 'number of the store''s products in stock and on special'),
        ('created_at', 'when the store was added'),
        ('product_id', 'id of the product in its store'),
        ('product', 'name of the product on the menu; null if the product was deleted'),
        ('brand', 'name of the brand on the menu'),
        ('category', 'category on the menu'),
        ('subcategory', 'subcategory on the menu'),
        ('canonical_category', 'category of drover''s own list that covers it, such as flower or pre_roll: the same word for every platform'),
        ('strain_type', 'strain type on the menu'),
        ('option_label', 'label of the option; null in a change of the product'),
        ('nth', 'number of this option among those of the product with the same label, from 0'),
        ('position', 'place of the option on the menu, from 0'),
        ('size_mg', 'amount in milligrams, as the label of the option has it'),
        ('size_ml', 'amount in millilitres, as the label of the option has it'),
        ('price', 'cents that are paid: the special where it is lower, the medical price where there is no other; of a product, the lowest of its options'),
        ('price_rec', 'recreational price in cents; of a product, the lowest of its options, as in the next three'),
        ('price_med', 'medical price in cents'),
        ('special_price_rec', 'recreational price in cents while a sale lasts'),
        ('special_price_med', 'medical price in cents while a sale lasts'),
        ('is_on_special', 'whether a sale lasts'),
        ('quantity', 'units in stock'),
        ('quantity_censored', 'whether the platform caps quantity: the real number may be higher'),
        ('is_in_stock', 'whether it can be bought'),
        ('stock_status', 'in_stock, oos or unknown'),
        ('consecutive_misses', 'whole crawls in a row that lacked the product; after three it is out of stock'),
        ('thc_min', 'lowest content of THC, in thc_unit'),
        ('thc_max', 'highest content of THC, in thc_unit'),
        ('thc_unit', 'unit of the content of THC, such as PERCENTAGE'),
        ('cbd_min', 'lowest content of CBD, in cbd_unit'),
        ('cbd_max', 'highest content of CBD, in cbd_unit'),
        ('cbd_unit', 'unit of the content of CBD, such as MILLIGRAMS'),
        ('image_url', 'address of the product''s picture at the platform'),
        ('provider_product_id', 'the platform''s id of the product in this store'),
        ('enterprise_product_id', 'the platform''s id of the product in all stores of a chain'),
        ('first_seen_at', 'first crawl that found the product'),
        ('last_seen_at', 'latest crawl that found the product'),
        ('updated_at', 'when the row last changed'),
        ('attributes', 'facts that some platforms state: strain_name, terpenes, tags, rating, reviews, item_url, brand_id, pickup, delivery'),
        ('crawl_id', 'id of the crawl that found it'),
        ('crawled_at', 'time of the crawl that found it'),
        ('gone', 'whether the product was on the menu without this option'),
        ('rec_per_g', 'recreational price that is paid by gram, in millicents (100000 are a dollar)'),
        ('med_per_g', 'medical price that is paid by gram, in millicents'),
        ('rec_per_ml', 'recreational price that is paid by millilitre, in millicents'),
        ('med_per_ml', 'medical price that is paid by millilitre, in millicents'),
        ('rec_per_mg_thc', 'recreational price that is paid by milligram of THC, in millicents'),
        ('med_per_mg_thc', 'medical price that is paid by milligram of THC, in millicents'),
        ('thc_mg', 'milligrams of THC in the package'),
        ('unit_basis', 'how the amount is known: weight, from_name, volume or stated_thc'),
        ('no_unit_price', 'why there is no price by gram or millilitre'),
        ('no_thc_price', 'why there is no price by milligram of THC'),
        ('bundle_quantity', 'pieces of the option''s cheapest bundle, such as "2 for $50" or "buy 2 get 1 free"; null if no special states one'),
        ('bundle_total', 'cents for all pieces of the bundle; a bundle changes no price'),
        ('bundle_per_g', 'price by gram in the bundle, in millicents'),
        ('seq', 'place of the crawl in the feed; later ones are greater'),
        ('n', 'place of the change among those of its crawl, from 0'),
        ('kind', 'price_drop, price_rise, special_start, special_end, sold_out, restocked, low_stock, new, gone or returned'),
        ('cents', 'new minus old price in cents: recreational if that price went this way, else medical'),
        ('percent', 'cents as a percentage of the old price'),
        ('old_rec', 'recreational price before, in cents: the one that was paid, at a special the regular one'),
        ('new_rec', 'recreational price after, in cents: the one that is paid, at a special the regular one'),
        ('old_med', 'medical price before, in cents, likewise'),
        ('new_med', 'medical price after, in cents, likewise'),
        ('old_special_rec', 'recreational special before, in cents'),
        ('new_special_rec', 'recreational special after, in cents'),
        ('old_special_med', 'medical special before, in cents'),
        ('new_special_med', 'medical special after, in cents'),
        ('old_quantity', 'quantity before'),
        ('new_quantity', 'quantity after'),
        ('old_quantity_censored', 'whether the platform caps the quantity before'),
        ('new_quantity_censored', 'whether the platform caps the quantity after')
      ) AS w(word, meaning) ON w.word = a.attname
     WHERE a.attnum > 0
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', described.view, described.word, described.meaning);
  END LOOP;
END $$;

-- drover's functions are for its own account, and those of drover_v1 for readers: Postgres lets everyone execute a new one. Those of
-- extensions stay as they are.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
DO $$
DECLARE routine regprocedure;
BEGIN
  FOR routine IN
    SELECT f.oid
      FROM pg_proc f
     WHERE f.pronamespace IN (current_schema()::regnamespace, 'drover_v1'::regnamespace) AND f.prokind = 'f' AND f.proowner = current_user::regrole
       AND has_function_privilege('public', f.oid, 'EXECUTE')
       AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = f.oid AND e.deptype = 'e')
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', routine);
  END LOOP;
END $$;
