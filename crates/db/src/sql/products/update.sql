-- products/update.sql: writes a menu's values of products that have a row; they are on the menu, so they have
-- no miss. $1 when it was fetched, then one array per column; db/products.rs lists the columns
UPDATE store_products p
   SET consecutive_misses = 0, last_seen_at = $1, updated_at = now(), specials = NULL, {set}
  FROM unnest({arrays}) AS f ({names})
 WHERE p.id = f.id;
