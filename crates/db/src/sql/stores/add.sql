-- stores/add.sql: adds a store by hand. A known platform id is a conflict.
INSERT INTO dispensaries (name, platform, platform_dispensary_id, slug, menu_url, menu_key, api_host, api_path, city, state, timezone, groups)
VALUES ($name, $platform, $platform_dispensary_id, $slug, $menu_url, $menu_key, $api_host, $api_path, $city, $state, $timezone, $groups)
RETURNING id;
