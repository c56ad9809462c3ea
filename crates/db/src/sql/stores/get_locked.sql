-- stores/get_locked.sql: a store, locked until the transaction ends. $1 id
SELECT id, name, platform, platform_dispensary_id, slug, menu_url, api_host, api_path, state, timezone, crawl_enabled
  FROM dispensaries
 WHERE id = $1
   FOR UPDATE;
