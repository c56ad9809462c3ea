-- stores/change.sql: the name, the addresses, the platform id and the place that a person gives a store. With
-- another id, it is another menu: its suspicious menus and an accepted empty menu were of the one before, and
-- so was the location that discovery found. Returns the store if its row changed. $1 store, $2 name, $3 slug,
-- $4 menu URL, $5 platform id, $6 state, $7 time zone, $8 whether a city is given, $9 the city
WITH before AS (
  SELECT id, platform_dispensary_id IS DISTINCT FROM $5::text AS is_other FROM dispensaries WHERE id = $1
), forgotten AS (
  DELETE FROM suspicious_menus m USING before b WHERE m.dispensary_id = b.id AND b.is_other
), located AS (
  UPDATE dutchie_discovery_locations l SET dispensary_id = NULL FROM before b WHERE l.dispensary_id = b.id AND b.is_other
)
UPDATE dispensaries d
   SET name = $2, slug = $3, menu_url = $4, platform_dispensary_id = $5, state = $6, timezone = $7,
       city = CASE WHEN $8 THEN $9 ELSE d.city END, updated_at = now(),
       empty_accepted_at = CASE WHEN NOT b.is_other THEN d.empty_accepted_at END
  FROM before b
 WHERE d.id = b.id
   AND ((d.name, d.slug, d.menu_url, d.platform_dispensary_id, d.state, d.timezone) IS DISTINCT FROM ($2, $3, $4, $5, $6, $7)
        OR $8 AND d.city IS DISTINCT FROM $9)
RETURNING d.id;
