-- products/update.sql: what a menu says of products that have a row; they are on it, so that they have no miss.
-- $1 when it was fetched, then one array a column; the columns are listed in db/products.rs
UPDATE store_products p
   SET consecutive_misses = 0, last_seen_at = $1, updated_at = now(), specials = NULL, {set}
  FROM unnest({arrays}) AS f ({names})
 WHERE p.id = f.id;
