-- stores/record_fetch.sql: records that a store's menu was fetched and is believed. $1 store,
-- $2 its products
WITH past AS (
  DELETE FROM suspicious_menus WHERE dispensary_id = $1
)
UPDATE dispensaries
   SET last_fetch_at = now(), updated_at = now(),
       empty_accepted_at = CASE WHEN $2::int = 0 THEN empty_accepted_at END
 WHERE id = $1;
