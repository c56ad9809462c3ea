-- stores/accept_empty.sql: lets the next crawl of a store keep an empty menu. Returns whether its latest
-- crawls found none, or it was accepted before; no row for an unknown store. $1 store
WITH store AS (
  SELECT id, empty_accepted_at IS NOT NULL AS is_accepted FROM dispensaries WHERE id = $1 FOR UPDATE
), crawls AS (
  SELECT count(*) > 0 AS are_empty FROM suspicious_menus WHERE dispensary_id = $1 AND product_count = 0
), accepted AS (
  UPDATE dispensaries d SET empty_accepted_at = now(), updated_at = now()
    FROM crawls c
   WHERE d.id = $1 AND c.are_empty
), forgotten AS (
  DELETE FROM suspicious_menus WHERE dispensary_id = $1 AND product_count = 0
)
SELECT c.are_empty OR s.is_accepted FROM store s, crawls c
