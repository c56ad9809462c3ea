-- discovery/promote.sql: makes rows of `dispensaries` from the valid stores among $1 (ids of platform $2);
-- updates known ones. Returns the ids of the new ones.
WITH valid AS MATERIALIZED (
  SELECT l.*,
         lower(l.slug) AS lower_slug,
         lower(l.platform_dispensary_id) AS lower_id,
         d.id AS store_id      -- null: not known by this id
    FROM dutchie_discovery_locations l
    LEFT JOIN dispensaries d ON d.platform = l.platform AND d.platform_dispensary_id = l.platform_dispensary_id
   WHERE l.platform = $2
     AND l.platform_dispensary_id = ANY($1::text[])
     AND l.reason IS NULL
),
imported AS MATERIALIZED (      -- by hand or from a file, whose id has not been looked up yet
  SELECT id,
         state,
         lower(slug) AS lower_slug,
         -- the part of the menu's address that names the store
         lower(menu_entry(menu_url)) AS lower_entry
    FROM dispensaries
   WHERE platform = $2
     AND platform_dispensary_id IS NULL
),
adopted AS (      -- an imported store is the one that its slug or its menu's address names
  UPDATE dispensaries d
     SET platform_dispensary_id = v.platform_dispensary_id, updated_at = now()
    FROM (SELECT DISTINCT ON (v.platform_dispensary_id) i.id, v.platform_dispensary_id
            FROM imported i
            JOIN valid v
              ON (i.lower_slug = v.lower_slug AND (i.state IS NULL OR i.state = v.state))
              OR i.lower_entry IN (v.lower_slug, v.lower_id)
           WHERE v.store_id IS NULL
           ORDER BY v.platform_dispensary_id, i.id) v
   WHERE d.id = v.id
  RETURNING d.id, d.platform_dispensary_id
),
updated AS (
  UPDATE dispensaries d
     SET name = v.name,
         slug = coalesce(v.slug, d.slug),
         menu_url = coalesce(d.menu_url, v.menu_url),
         api_host = coalesce(d.api_host, v.api_host),
         address = coalesce(v.address, d.address),
         city = coalesce(v.city, d.city),
         state = coalesce(v.state, d.state),
         zip = coalesce(v.zip, d.zip),
         latitude = coalesce(v.latitude, d.latitude),
         longitude = coalesce(v.longitude, d.longitude),
         phone = coalesce(v.phone, d.phone),
         timezone = coalesce(v.timezone, d.timezone),
         is_recreational = coalesce(v.is_recreational, d.is_recreational),
         is_medical = coalesce(v.is_medical, d.is_medical),
         -- it was discovery that switched it off
         crawl_enabled = d.crawl_enabled OR d.disabled_reason IS NOT NULL,
         disabled_reason = NULL,
         updated_at = now()
    FROM valid v
   WHERE d.id = v.store_id
  RETURNING d.id, d.platform_dispensary_id
),
added AS (
  INSERT INTO dispensaries
         (name, slug, platform, platform_dispensary_id, menu_url, api_host, address, city, state, zip, latitude, longitude, phone,
          timezone, is_recreational, is_medical)
  SELECT v.name, v.slug, $2, v.platform_dispensary_id, v.menu_url, v.api_host, v.address, v.city, v.state, v.zip, v.latitude,
         v.longitude, v.phone, v.timezone, v.is_recreational, v.is_medical
    FROM valid v
   WHERE v.store_id IS NULL
     AND NOT EXISTS (SELECT FROM adopted a WHERE a.platform_dispensary_id = v.platform_dispensary_id)
   ORDER BY v.platform_dispensary_id
      ON CONFLICT (platform, platform_dispensary_id) DO NOTHING      -- added by hand a moment ago
  RETURNING id, platform_dispensary_id
),
linked AS (
  UPDATE dutchie_discovery_locations l
     SET dispensary_id = known.id
    FROM (SELECT * FROM adopted UNION SELECT * FROM updated UNION SELECT * FROM added) known
   WHERE l.platform = $2
     AND l.platform_dispensary_id = known.platform_dispensary_id
     AND l.dispensary_id IS DISTINCT FROM known.id
)
SELECT id FROM added ORDER BY id;
