-- stores/address.sql: another store of the platform that has one of a store's new addresses, which are null where
-- they stay. $new_menu_key: the name or id of the store in its new menu URL.
SELECT d.id AS other, d.name AS other_name, k.slug AS other_slug
  FROM unnest(ARRAY[lower($new_slug::text), lower($new_menu_key::text)]) AS k(slug)
 CROSS JOIN LATERAL (
       SELECT s.id, s.name, s.platform FROM dispensaries s WHERE lower(s.slug) = k.slug
       UNION ALL
       SELECT s.id, s.name, s.platform FROM dispensaries s WHERE lower(s.menu_key) = k.slug) d
 WHERE d.platform = $platform AND d.id <> $store
 ORDER BY d.id
 LIMIT 1;
