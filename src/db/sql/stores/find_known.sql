-- stores/find_known.sql: the store that a new one would double. $1 platform, $2 platform id, $3 menu address, $4 slug
-- A slug alone names a store only where neither an id nor an address was given.
SELECT id
  FROM dispensaries
 WHERE platform = $1
   AND CASE WHEN $2::text IS NOT NULL THEN platform_dispensary_id = $2
            WHEN $3::text IS NOT NULL THEN menu_url = $3
            ELSE slug = $4::text END
 ORDER BY id
 LIMIT 1;
