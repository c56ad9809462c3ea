-- stores/add.sql: adds a store by hand. A known platform id is a conflict.
INSERT INTO dispensaries (name, platform, platform_dispensary_id, slug, menu_url, api_host, api_path, city, state, timezone, groups)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
RETURNING id;
