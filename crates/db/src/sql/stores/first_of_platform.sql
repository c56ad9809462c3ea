-- stores/first_of_platform.sql: the first store of platform $1 that is crawled.
SELECT id, name, platform, platform_dispensary_id, slug, menu_url, api_host, api_path, state, timezone, crawl_enabled
  FROM dispensaries
 WHERE platform = $1
   AND crawl_enabled
   AND platform_dispensary_id IS NOT NULL
 ORDER BY id
 LIMIT 1;
