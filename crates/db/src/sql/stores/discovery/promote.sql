-- stores/discovery/promote.sql: makes rows of `dispensaries` from the valid stores among $1 (ids of platform $2);
-- updates known ones. Returns the ids of the new stores, and the ids at the platform that are left out, because a known
-- store that is still listed has the same slug, address or letters of its id.
WITH valid AS MATERIALIZED (
  SELECT l.*,
         lower(l.slug) AS lower_slug,
         lower(l.platform_dispensary_id) AS lower_id,
         d.id AS store_id      -- null: not known by this id
    FROM found_stores l
    LEFT JOIN dispensaries d ON d.platform = l.platform AND d.platform_dispensary_id = l.platform_dispensary_id
   WHERE l.platform = $2
     AND l.platform_dispensary_id = ANY($1::text[])
     AND l.reason IS NULL
),
unnamed AS MATERIALIZED (      -- stores that no id among $1 names
  SELECT d.id,
         d.state,
         lower(d.slug) AS lower_slug,
         lower(d.menu_key) AS lower_entry,
         lower(d.platform_dispensary_id) AS lower_id,
         -- imported by hand or from a file, and not looked up yet; or the platform lists it no more
         d.platform_dispensary_id IS NULL OR l.vanished_at IS NOT NULL AS is_free
    FROM dispensaries d
    LEFT JOIN found_stores l ON l.platform = d.platform AND l.platform_dispensary_id = d.platform_dispensary_id
   WHERE d.platform = $2
     AND (d.platform_dispensary_id IS NULL OR d.platform_dispensary_id <> ALL ($1::text[]))
),
matched AS MATERIALIZED (      -- a store is the one that its slug or its menu's address names
  SELECT v.platform_dispensary_id, u.id, u.is_free
    FROM valid v
    JOIN unnamed u ON u.lower_slug = v.lower_slug AND (u.state IS NULL OR u.state = v.state)
   WHERE v.store_id IS NULL
   UNION
  SELECT v.platform_dispensary_id, u.id, u.is_free
    FROM valid v
   CROSS JOIN LATERAL (VALUES (v.lower_slug), (v.lower_id)) AS names(entry)
    JOIN unnamed u ON u.lower_entry = names.entry
   WHERE v.store_id IS NULL
   UNION
  SELECT v.platform_dispensary_id, u.id, u.is_free
    FROM valid v
    JOIN unnamed u ON u.lower_id = v.lower_id
   WHERE v.store_id IS NULL
),
adopted AS (
  UPDATE dispensaries d
     SET platform_dispensary_id = m.platform_dispensary_id,
         -- it was discovery that switched it off
         crawl_enabled = d.crawl_enabled OR d.disabled_reason IS NOT NULL,
         disabled_reason = NULL,
         updated_at = now()
    FROM (SELECT DISTINCT ON (id) id, platform_dispensary_id
            FROM (SELECT DISTINCT ON (platform_dispensary_id) id, platform_dispensary_id
                    FROM matched
                   WHERE is_free
                   ORDER BY platform_dispensary_id, id) one_store_an_id
           ORDER BY id, platform_dispensary_id) m
   WHERE d.id = m.id
  RETURNING d.id, d.platform_dispensary_id
),
taken AS MATERIALIZED (      -- the platform still lists the known store, under the id that is known, as far as was looked
  SELECT DISTINCT platform_dispensary_id
    FROM matched
   WHERE NOT is_free
     AND platform_dispensary_id NOT IN (SELECT platform_dispensary_id FROM adopted)
),
updated AS (
  UPDATE dispensaries d
     SET name = v.name,
         slug = coalesce(v.slug, d.slug),
         menu_url = coalesce(d.menu_url, v.menu_url),
         menu_key = CASE WHEN d.menu_url IS NULL THEN v.menu_key ELSE d.menu_key END,
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
         licences = CASE WHEN v.licences <> '{}' THEN v.licences ELSE d.licences END,
         website = coalesce(v.website, d.website),
         email = coalesce(v.email, d.email),
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
         (name, slug, platform, platform_dispensary_id, menu_url, menu_key, api_host, address, city, state, zip, latitude, longitude, phone,
          timezone, is_recreational, is_medical, licences, website, email)
  SELECT v.name, v.slug, $2, v.platform_dispensary_id, v.menu_url, v.menu_key, v.api_host, v.address, v.city, v.state, v.zip, v.latitude,
         v.longitude, v.phone, v.timezone, v.is_recreational, v.is_medical, v.licences, v.website, v.email
    FROM valid v
   WHERE v.store_id IS NULL
     AND NOT EXISTS (SELECT FROM adopted a WHERE a.platform_dispensary_id = v.platform_dispensary_id)
     AND NOT EXISTS (SELECT FROM taken t WHERE t.platform_dispensary_id = v.platform_dispensary_id)
   ORDER BY v.platform_dispensary_id
      ON CONFLICT (platform, platform_dispensary_id) DO NOTHING      -- added by hand a moment ago
  RETURNING id, platform_dispensary_id
),
linked AS (
  UPDATE found_stores l
     SET dispensary_id = known.id
    FROM (SELECT * FROM adopted UNION SELECT * FROM updated UNION SELECT * FROM added) known
   WHERE l.platform = $2
     AND l.platform_dispensary_id = known.platform_dispensary_id
     AND l.dispensary_id IS DISTINCT FROM known.id
)
SELECT ARRAY(SELECT id FROM added ORDER BY id) AS new,
       ARRAY(SELECT platform_dispensary_id FROM taken ORDER BY platform_dispensary_id) AS of_known_stores;
