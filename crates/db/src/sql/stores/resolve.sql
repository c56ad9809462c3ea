-- stores/resolve.sql: sets the platform id that a store's menu address leads to. A store with another id
-- keeps it. $1 store, $2 platform id, $3 the platform's own slug
UPDATE dispensaries
   SET platform_dispensary_id = $2, slug = coalesce($3, slug), updated_at = now()
 WHERE id = $1
   AND coalesce(platform_dispensary_id, $2) = $2;
