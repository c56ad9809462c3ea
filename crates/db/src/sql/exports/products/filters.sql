-- exports/products/filters.sql: the conditions on products; a null filters nothing.
              ($brand::text IS NULL OR brand_key(p.brand) = brand_key($brand))
          AND ($brand_beginning::text IS NULL OR starts_with(brand_key(p.brand), brand_key($brand_beginning)))
          AND ($category::text IS NULL OR is_of_category($category, p.category, p.canonical_category))
          AND ($in_stock::bool IS NULL OR p.is_in_stock = $in_stock)
          AND ($on_special::bool IS NULL OR p.is_on_special = $on_special)
          AND ($min_price::int IS NULL OR p.price >= $min_price)
          AND ($max_price::int IS NULL OR p.price <= $max_price)
          AND ($max_unit_price::bigint IS NULL
               OR (SELECT u.unit_order FROM cheapest_option(p.product_id) u) <= least($max_unit_price, 999999999999))
