-- stores/of_platform_id.sql: $1 platform, $2 its id of the store
SELECT id FROM dispensaries WHERE platform = $1 AND platform_dispensary_id = $2;
