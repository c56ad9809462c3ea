-- Categories and prices of a product as they are compared: what is paid now, and by unit.

-- Whether a product is of the category that was asked for, by the platform's name in any letter case, or by the name of the canonical one.
CREATE OR REPLACE FUNCTION is_of_category(asked text, category text, canonical text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $f$
  SELECT lower(btrim(asked)) IN (lower(btrim(category)), canonical)
$f$;

-- The current price of a product: the special where it is lower, the medical price where there is no other.
CREATE OR REPLACE FUNCTION current_price(p store_products) RETURNS integer LANGUAGE sql IMMUTABLE AS $f$
  SELECT coalesce(least(p.price_rec, p.special_price_rec), least(p.price_med, p.special_price_med))
$f$;

-- The prices by unit of a product's option that is cheapest by them, among those in stock if there are any; no row if no option has one.
-- `unit_order`: prices by gram come first, in millicents; prices by milligram of THC, by which dosed goods are compared, follow above 10^12.
CREATE OR REPLACE FUNCTION cheapest_option(product bigint)
RETURNS TABLE (rec_per_g bigint, med_per_g bigint, rec_per_mg_thc bigint, med_per_mg_thc bigint, unit_basis text, unit_order bigint)
LANGUAGE sql STABLE AS $f$
  SELECT o.rec_per_g, o.med_per_g, o.rec_per_mg_thc, o.med_per_mg_thc, o.unit_basis, u.unit_order
    FROM store_product_variants o
   CROSS JOIN LATERAL (
           SELECT CASE WHEN o.unit_basis <> 'stated_thc' AND coalesce(o.rec_per_g, o.med_per_g) < 1000000000000
                       THEN coalesce(o.rec_per_g, o.med_per_g)
                       ELSE 1000000000000 + coalesce(o.rec_per_mg_thc, o.med_per_mg_thc)
                  END AS unit_order) u
   WHERE o.store_product_id = product AND u.unit_order IS NOT NULL
   ORDER BY o.is_in_stock DESC, u.unit_order
   LIMIT 1
$f$;

-- The unit by which an option is compared with others; null: its amount is not known.
CREATE OR REPLACE FUNCTION unit_of(basis text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT CASE basis WHEN 'stated_thc' THEN 'mg_thc' WHEN 'volume' THEN 'ml' WHEN 'weight' THEN 'g' WHEN 'from_name' THEN 'g' END
$f$;

-- That one of an option's prices by unit by which it is compared.
CREATE OR REPLACE FUNCTION compared_price(basis text, per_g bigint, per_ml bigint, per_mg_thc bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT CASE unit_of(basis) WHEN 'g' THEN per_g WHEN 'ml' THEN per_ml WHEN 'mg_thc' THEN per_mg_thc END
$f$;
