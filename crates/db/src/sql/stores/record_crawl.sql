-- stores/record_crawl.sql: records a payload as the newest whose products are stored, with their hashes; earlier menus that
-- were suspicious, because they put most products out of stock, were wrong or are believed now. $1 store, $2 payload, $3 its
-- time, $4 whether it was complete
WITH settled AS (
  DELETE FROM suspicious_switches WHERE kind = 'products' AND dispensary_ids = ARRAY[$1::bigint]
)
UPDATE dispensaries
   SET last_payload_id = $2, hashed_payload_id = $2, last_payload_at = $3, last_crawl_at = now(), updated_at = now(),
       last_complete_at = CASE WHEN $4 THEN $3 ELSE last_complete_at END
 WHERE id = $1;
