-- products/widen_seen.sql: an older payload contained the products $1 at $2, which may be before their first
-- or after their last sighting.
UPDATE store_products
   SET first_seen_at = least(first_seen_at, $2),
       last_seen_at = greatest(last_seen_at, $2)
 WHERE id = ANY($1::bigint[])
   AND (first_seen_at > $2
        -- without a miss the store's last complete crawl counts
        OR (consecutive_misses > 0 AND last_seen_at < $2));
