-- stores/resolve.sql: where a store's menu address leads. A store that is known by another id keeps it. $1 store, $2 platform id,
-- $3 the platform's own slug
UPDATE dispensaries
   SET platform_dispensary_id = $2, slug = coalesce($3, slug), updated_at = now()
 WHERE id = $1
   AND coalesce(platform_dispensary_id, $2) = $2;
