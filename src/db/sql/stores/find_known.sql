-- stores/find_known.sql: the store that a new one would double: of the same platform id, or, where one of the two has no id yet, of the
-- same slug or menu address. $1 platform, $2 platform id, $3 menu address, $4 slug
WITH given AS (
  SELECT regexp_replace(substring($3::text FROM '/(?:dispensary|embedded-menu|stores)/([^/?#]+)'), '\.js$', '') AS entry
),
known AS (
  SELECT id,
         platform_dispensary_id,
         slug,
         regexp_replace(substring(menu_url FROM '/(?:dispensary|embedded-menu|stores)/([^/?#]+)'), '\.js$', '') AS entry
    FROM dispensaries
   WHERE platform = $1
)
SELECT known.id
  FROM known, given
 WHERE known.platform_dispensary_id IN ($2::text, given.entry)
    OR ($2::text IS NULL OR known.platform_dispensary_id IS NULL)
       AND (known.entry IN (given.entry, $2, $4) OR known.slug IN (given.entry, $4::text))
 ORDER BY known.platform_dispensary_id = $2 DESC NULLS LAST, known.id
 LIMIT 1;
