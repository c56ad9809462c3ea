-- stores/discovery/closing.sql: locks those of the stores $2 that discovery saw closed, or does not see any more; a store's
-- products are written under this lock. A store that a person enabled again keeps its reason, and is left
-- alone. $1 platform
SELECT d.id, CASE WHEN l.vanished_at IS NOT NULL THEN 'vanished' ELSE l.reason END AS reason
  FROM found_stores l
  JOIN dispensaries d ON d.platform = l.platform AND d.platform_dispensary_id = l.platform_dispensary_id
 WHERE l.platform = $1
   AND d.id = ANY ($2::bigint[])
   AND (l.vanished_at IS NOT NULL OR l.reason = 'not_open')
   AND d.crawl_enabled
   AND d.disabled_reason IS NULL
 ORDER BY d.id
   FOR UPDATE OF d;
