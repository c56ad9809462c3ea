-- stores/address.sql: the slug or id in a store's menu URL, and another store of the platform that has one of
-- its new addresses, which are null where they stay.
SELECT menu_entry($menu_url::text) AS menu_entry, other.id AS other, other.name AS other_name, other.slug AS other_slug
  FROM (SELECT) always
  LEFT JOIN LATERAL (
       SELECT d.id, d.name, k.slug
         FROM unnest(ARRAY[lower($new_slug::text), lower(menu_entry($new_menu_url::text))]) AS k(slug)
        CROSS JOIN LATERAL (
              SELECT s.id, s.name, s.platform FROM dispensaries s WHERE lower(s.slug) = k.slug
              UNION ALL
              SELECT s.id, s.name, s.platform FROM dispensaries s WHERE lower(menu_entry(s.menu_url)) = k.slug) d
        WHERE d.platform = $platform AND d.id <> $store
        ORDER BY d.id
        LIMIT 1) other ON true;
