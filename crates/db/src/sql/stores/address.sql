-- stores/address.sql: the slug or id in a store's menu URL, and another store of the platform that has one of
-- its new addresses. $1 platform, $2 store, $3 its menu URL, $4 and $5 its slug and menu URL if they are new
SELECT menu_entry($3::text) AS menu_entry, other.id AS other, other.name AS other_name, other.slug AS other_slug
  FROM (SELECT) always
  LEFT JOIN LATERAL (
       SELECT d.id, d.name, k.slug
         FROM unnest(ARRAY[lower($4::text), lower(menu_entry($5::text))]) AS k(slug)
        CROSS JOIN LATERAL (
              SELECT s.id, s.name, s.platform FROM dispensaries s WHERE lower(s.slug) = k.slug
              UNION ALL
              SELECT s.id, s.name, s.platform FROM dispensaries s WHERE lower(menu_entry(s.menu_url)) = k.slug) d
        WHERE d.platform = $1 AND d.id <> $2
        ORDER BY d.id
        LIMIT 1) other ON true;
