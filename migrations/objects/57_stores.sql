-- Adding stores by hand or from a list.

-- The store that a new one would duplicate: it has the same platform id, or, if one of the two has no id yet, the same slug or menu URL, in
-- any letter case. `entry` is the name or id of the store in the menu's URL. Null if the store is new. Each kind of match uses its own index: a range in the index's order, which no other plan gives
-- without a sort. With an equality, a plan made while the table is empty may scan another index from end to end.
CREATE OR REPLACE FUNCTION known_store(of_platform text, platform_id text, entry text, store_slug text) RETURNS bigint
LANGUAGE plpgsql AS $f$
DECLARE
  found bigint;
BEGIN
  SELECT alike.id INTO found
    FROM (
      SELECT d.id, d.platform, d.platform_dispensary_id
        FROM unnest(ARRAY[platform_id, entry]) AS k(key)
       CROSS JOIN LATERAL (
             SELECT s.id, s.platform, s.platform_dispensary_id FROM dispensaries s
              WHERE s.platform = of_platform AND s.platform_dispensary_id BETWEEN k.key AND k.key
              ORDER BY s.platform_dispensary_id) d
      UNION ALL
      SELECT d.id, d.platform, d.platform_dispensary_id
        FROM unnest(ARRAY[lower(entry), lower(platform_id), lower(store_slug)]) AS k(key)
       CROSS JOIN LATERAL (
             SELECT s.id, s.platform, s.platform_dispensary_id FROM dispensaries s
              WHERE lower(s.menu_key) BETWEEN k.key AND k.key
                AND (platform_id IS NULL OR s.platform_dispensary_id IS NULL)
              ORDER BY lower(s.menu_key)) d
      UNION ALL
      SELECT d.id, d.platform, d.platform_dispensary_id
        FROM unnest(ARRAY[lower(entry), lower(store_slug)]) AS k(key)
       CROSS JOIN LATERAL (
             SELECT s.id, s.platform, s.platform_dispensary_id FROM dispensaries s
              WHERE lower(s.slug) BETWEEN k.key AND k.key
                AND (platform_id IS NULL OR s.platform_dispensary_id IS NULL)
              ORDER BY lower(s.slug)) d
    ) alike
   WHERE alike.platform = of_platform
   ORDER BY alike.platform_dispensary_id = platform_id DESC NULLS LAST, alike.id
   LIMIT 1;
  RETURN found;
END $f$;

-- The store that had one of these slugs before it was corrected or renamed; the latest, where several had it.
CREATE OR REPLACE FUNCTION formerly_known_store(of_platform text, entry text, store_slug text,
  OUT id bigint, OUT former_slug text, OUT slug text) LANGUAGE sql AS $f$
  SELECT d.id, f.slug, coalesce(d.slug, d.menu_key)
    FROM unnest(ARRAY[lower(entry), lower(store_slug)]) AS k(key)
    JOIN former_slugs f ON f.slug = k.key
    JOIN dispensaries d ON d.id = f.dispensary_id
   WHERE d.platform = of_platform
   ORDER BY f.replaced_at DESC, d.id
   LIMIT 1
$f$;

DROP FUNCTION IF EXISTS add_stores(text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[]);
DROP FUNCTION IF EXISTS add_stores(text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[]);

-- Adds stores, one array per column (groups with semicolons between them), unless they are known; a later store may duplicate an earlier
-- one of the same call. A known store is added to the groups that it is not in yet, unless it would be in more than 20, and is removed from
-- none. A store is known by a slug that it had before, too: former_slug, and the one that it has now. The results are in the order of the
-- stores. menu_keys: the names or ids of the stores in the URLs of their menus; a process of the release before gives none.
CREATE FUNCTION add_stores(names text[], platforms text[], platform_ids text[], slugs text[], menu_urls text[],
  api_hosts text[], api_paths text[], cities text[], states text[], timezones text[], store_groups text[],
  menu_keys text[] DEFAULT '{}')
RETURNS TABLE (store_id bigint, is_known boolean, is_grouped boolean, is_full boolean, former_slug text, slug text) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
DECLARE
  s record;
  entry text;
  into_groups text[];
  all_groups text[];
BEGIN
  FOR s IN SELECT * FROM unnest(names, platforms, platform_ids, slugs, menu_urls, api_hosts, api_paths, cities, states, timezones,
                                      store_groups, menu_keys)
                      AS t (name, platform, platform_id, slug, menu_url, api_host, api_path, city, state, timezone, groups, menu_key)
  LOOP
    entry := coalesce(s.menu_key, menu_entry(s.menu_url));
    store_id := known_store(s.platform, s.platform_id, entry, s.slug);
    former_slug := NULL;
    slug := NULL;
    IF store_id IS NULL THEN      -- it may have moved to another platform
      SELECT f.dispensary_id INTO store_id
        FROM former_menus f
       WHERE f.platform = s.platform AND f.platform_dispensary_id = s.platform_id
       ORDER BY f.replaced_at DESC
       LIMIT 1;
    END IF;
    IF store_id IS NULL AND s.platform_id IS NULL THEN      -- a slug may belong to another store now: its id says so
      SELECT k.id, k.former_slug, k.slug INTO store_id, former_slug, slug
        FROM formerly_known_store(s.platform, entry, s.slug) k;
    END IF;
    is_known := store_id IS NOT NULL;
    is_grouped := false;
    is_full := false;
    into_groups := coalesce(string_to_array(s.groups, ';'), '{}');
    IF is_known AND into_groups <> '{}' THEN
      SELECT d.groups || ARRAY(SELECT g FROM unnest(into_groups) g WHERE g <> ALL (d.groups)) INTO all_groups
        FROM dispensaries d WHERE d.id = store_id FOR UPDATE;
      is_full := cardinality(all_groups) > 20;
      UPDATE dispensaries d SET groups = all_groups, updated_at = now()
       WHERE d.id = store_id AND d.groups <> all_groups AND NOT is_full;
      is_grouped := FOUND;
    ELSIF NOT is_known THEN
      INSERT INTO dispensaries (name, platform, platform_dispensary_id, slug, menu_url, menu_key, api_host, api_path, city, state,
                                timezone, groups)
      VALUES (s.name, s.platform, s.platform_id, s.slug, s.menu_url, entry, s.api_host, s.api_path, s.city, s.state,
              s.timezone, into_groups)
      RETURNING id INTO store_id;
    END IF;
    RETURN NEXT;
  END LOOP;
END $f$;
