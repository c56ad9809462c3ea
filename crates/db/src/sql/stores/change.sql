-- stores/change.sql: the name, the addresses, the platform id and the place that a person gives a store. With
-- another id or platform, it is another menu: its suspicious menus and an accepted empty menu were of the one before, and
-- so was the location that discovery found. Returns the store if its row changed. $moves: whether a city is given
WITH before AS (
  SELECT id, platform, platform_dispensary_id, platform <> $platform AS is_moved,
         platform <> $platform OR platform_dispensary_id IS DISTINCT FROM $platform_dispensary_id::text AS is_other
    FROM dispensaries WHERE id = $id
), former AS (
  INSERT INTO former_menus (platform, platform_dispensary_id, dispensary_id)
  SELECT platform, platform_dispensary_id, id FROM before WHERE is_moved AND platform_dispensary_id IS NOT NULL
      ON CONFLICT (platform, platform_dispensary_id, dispensary_id) DO UPDATE SET replaced_at = now()
), forgotten AS (
  DELETE FROM suspicious_menus m USING before b WHERE m.dispensary_id = b.id AND b.is_other
), located AS (
  UPDATE found_stores l SET dispensary_id = NULL FROM before b WHERE l.dispensary_id = b.id AND b.is_other
)
UPDATE dispensaries d
   SET name = $name, platform = $platform, slug = $slug, menu_url = $menu_url, menu_key = $menu_key,
       platform_dispensary_id = $platform_dispensary_id, state = $state, timezone = $timezone,
       api_host = CASE WHEN NOT b.is_moved THEN d.api_host END, api_path = CASE WHEN NOT b.is_moved THEN d.api_path END,
       city = CASE WHEN $moves THEN $city ELSE d.city END, updated_at = now(),
       empty_accepted_at = CASE WHEN NOT b.is_other THEN d.empty_accepted_at END, needs_baseline = d.needs_baseline OR b.is_other
  FROM before b
 WHERE d.id = b.id
   AND ((d.name, d.platform, d.slug, d.menu_url, d.platform_dispensary_id, d.state, d.timezone) IS DISTINCT FROM
        ($name, $platform, $slug, $menu_url, $platform_dispensary_id, $state, $timezone)
        OR $moves AND d.city IS DISTINCT FROM $city)
RETURNING d.id;
