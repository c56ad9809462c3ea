-- Specials and attributes, which the products of a store share.

-- A product's specials; null if it has none.
CREATE OR REPLACE FUNCTION product_specials(product store_products) RETURNS jsonb LANGUAGE sql STABLE AS $f$
  SELECT coalesce(product.specials,
                  (SELECT s.specials::jsonb
                     FROM store_specials s
                    WHERE s.dispensary_id = product.dispensary_id
                      AND s.hash = product.specials_hash));
$f$;

-- A product's attributes; null if its platform states none.
CREATE OR REPLACE FUNCTION product_attributes(product store_products) RETURNS jsonb LANGUAGE sql STABLE AS $f$
  SELECT a.attributes::jsonb
    FROM store_attributes a
   WHERE a.dispensary_id = product.dispensary_id
     AND a.hash = product.attributes_hash;
$f$;
