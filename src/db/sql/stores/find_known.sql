-- stores/find_known.sql: the store that a new one would double: of the same platform id, or, where one of the two has no id yet, of the
-- same slug or menu address, in any letter case. `entry`: the part of the menu's address that names the store.
-- $1 platform, $2 platform id, $3 menu address, $4 slug
WITH given AS MATERIALIZED (
  SELECT menu_entry($3) AS entry
),
-- each by its own index; compared here, the platform would lead the planner to walk all of its stores
alike AS MATERIALIZED (
  SELECT id, platform, platform_dispensary_id
    FROM dispensaries
   WHERE platform = $1
     AND platform_dispensary_id IN ($2, (SELECT entry FROM given))
  UNION ALL
  SELECT id, platform, platform_dispensary_id
    FROM dispensaries
   WHERE lower(menu_entry(menu_url)) IN ((SELECT lower(entry) FROM given), lower($2), lower($4))
     AND ($2 IS NULL OR platform_dispensary_id IS NULL)
  UNION ALL
  SELECT id, platform, platform_dispensary_id
    FROM dispensaries
   WHERE lower(slug) IN ((SELECT lower(entry) FROM given), lower($4))
     AND ($2 IS NULL OR platform_dispensary_id IS NULL)
)
SELECT id
  FROM alike
 WHERE platform = $1
 ORDER BY platform_dispensary_id = $2 DESC NULLS LAST, id
 LIMIT 1;
