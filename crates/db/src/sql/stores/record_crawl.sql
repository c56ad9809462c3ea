-- stores/record_crawl.sql: records a payload as the newest whose products are stored, with their hashes; earlier menus that
-- were suspicious, because they put most products out of stock, were wrong or are believed now. A whole one is noted, for the menu at its time.
WITH settled AS (
  DELETE FROM suspicious_switches WHERE kind = 'products' AND dispensary_ids = ARRAY[$store::bigint]
),
noted AS (
  INSERT INTO whole_crawls (dispensary_id, crawled_at, crawl_id)
  SELECT $store::bigint, $fetched_at, $id WHERE $complete
      ON CONFLICT DO NOTHING
)
UPDATE dispensaries
   SET last_payload_id = $id, hashed_payload_id = $id, last_payload_at = $fetched_at, last_crawl_at = now(), updated_at = now(),
       last_complete_at = CASE WHEN $complete THEN $fetched_at ELSE last_complete_at END,
       needs_baseline = needs_baseline AND NOT $complete
 WHERE id = $store;
