-- products/brands/add.sql: adds brands that a menu names. $1 names, $2 slugs (distinct), $3 addresses of logos. The
-- first address of a brand stays until it has failed: stores that name different ones must not take turns
INSERT INTO brands (name, slug, image_url)
SELECT f.name, f.slug, f.image_url
  FROM unnest($1::text[], $2::text[], $3::text[]) AS f (name, slug, image_url)
 WHERE NOT EXISTS (
         SELECT FROM brands b
          WHERE b.slug = f.slug
            AND (b.local_image_path IS NOT NULL OR f.image_url IS NULL OR b.image_url = f.image_url
                 OR (b.image_url IS NOT NULL
                     AND NOT EXISTS (SELECT FROM brand_image_failures x WHERE x.brand_id = b.id AND x.image_url = b.image_url))))
 -- menus that are written at the same time wait for each other in one order
 ORDER BY f.slug
    ON CONFLICT (slug) DO UPDATE SET image_url = EXCLUDED.image_url, updated_at = now()
       WHERE brands.local_image_path IS NULL AND EXCLUDED.image_url IS NOT NULL
         -- two menus that name a new brand at the same time meet here
         AND (brands.image_url IS NULL
              OR EXISTS (SELECT FROM brand_image_failures x WHERE x.brand_id = brands.id AND x.image_url = brands.image_url));
