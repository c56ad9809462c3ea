-- stores/change.sql: the name, the addresses and the platform id that a person gives a store. With another id,
-- it is another menu: its suspicious menus and an accepted empty menu were of the one before, and so was the
-- location that discovery found. $1 store, $2 name, $3 slug, $4 menu URL, $5 platform id
WITH before AS (
  SELECT id, platform_dispensary_id IS DISTINCT FROM $5::text AS is_other FROM dispensaries WHERE id = $1
), forgotten AS (
  DELETE FROM suspicious_menus m USING before b WHERE m.dispensary_id = b.id AND b.is_other
), located AS (
  UPDATE dutchie_discovery_locations l SET dispensary_id = NULL FROM before b WHERE l.dispensary_id = b.id AND b.is_other
)
UPDATE dispensaries d
   SET name = $2, slug = $3, menu_url = $4, platform_dispensary_id = $5, updated_at = now(),
       empty_accepted_at = CASE WHEN NOT b.is_other THEN d.empty_accepted_at END
  FROM before b
 WHERE d.id = b.id;
