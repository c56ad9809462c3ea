-- stores/change.sql: the name, the addresses, the platform id and the place that a person gives a store. With
-- another id, it is another menu: its suspicious menus and an accepted empty menu were of the one before, and
-- so was the location that discovery found. Returns the store if its row changed. $moves: whether a city is given
WITH before AS (
  SELECT id, platform_dispensary_id IS DISTINCT FROM $platform_dispensary_id::text AS is_other FROM dispensaries WHERE id = $id
), forgotten AS (
  DELETE FROM suspicious_menus m USING before b WHERE m.dispensary_id = b.id AND b.is_other
), located AS (
  UPDATE found_stores l SET dispensary_id = NULL FROM before b WHERE l.dispensary_id = b.id AND b.is_other
)
UPDATE dispensaries d
   SET name = $name, slug = $slug, menu_url = $menu_url, menu_key = $menu_key,
       platform_dispensary_id = $platform_dispensary_id, state = $state, timezone = $timezone,
       city = CASE WHEN $moves THEN $city ELSE d.city END, updated_at = now(),
       empty_accepted_at = CASE WHEN NOT b.is_other THEN d.empty_accepted_at END, needs_baseline = d.needs_baseline OR b.is_other
  FROM before b
 WHERE d.id = b.id
   AND ((d.name, d.slug, d.menu_url, d.platform_dispensary_id, d.state, d.timezone) IS DISTINCT FROM
        ($name, $slug, $menu_url, $platform_dispensary_id, $state, $timezone)
        OR $moves AND d.city IS DISTINCT FROM $city)
RETURNING d.id;
