-- stores/record_fetch.sql: records that a store's menu was fetched and is believed. $1 store
WITH past AS (
  DELETE FROM suspicious_menus WHERE dispensary_id = $1
)
UPDATE dispensaries
   SET last_fetch_at = now(), updated_at = now()
 WHERE id = $1;
