-- products/record_misses.sql: one more miss for products with less than three (`stock::Stock::missed`).
-- $1 ids, $2 when the previous complete crawl was fetched
UPDATE store_products
   SET consecutive_misses = consecutive_misses + 1,
       is_in_stock = is_in_stock AND consecutive_misses < 2,
       stock_status = CASE WHEN consecutive_misses < 2 THEN stock_status ELSE 'oos' END,
       last_seen_at = CASE consecutive_misses WHEN 0 THEN greatest(last_seen_at, $2::timestamptz) ELSE last_seen_at END,
       updated_at = now()
 WHERE id = ANY($1::bigint[])
   AND consecutive_misses < 3;
