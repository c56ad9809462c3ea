-- payloads/believe_small_menu.sql: records a menu that is too small to be believed at once, unless it is
-- believed: the third in a row, hours apart and not all through one proxy where there are several, or the
-- sixth. An empty menu is not believed. Returns whether it is. $1 store, $2 when its fetch began, $3 its products, $4 proxy
WITH earlier AS (
  SELECT count(*) AS menus, max(fetched_at) AS latest, array_agg(proxy_id) AS proxies
    FROM suspicious_menus
   WHERE dispensary_id = $1
),
judged AS (
  SELECT coalesce(latest <= $2::timestamptz - interval '2 hours', true) AS is_apart,
         $3::int > 0
         AND menus >= 2
         AND latest <= $2::timestamptz - interval '2 hours'
         AND ((SELECT count(DISTINCT proxy) FROM unnest(proxies || $4::bigint) AS proxy) > 1
              OR (SELECT count(*) FROM proxies WHERE is_active OR cooldown_until IS NOT NULL) < 2
              OR menus >= 5      -- perhaps no other proxy is chosen for this store
             ) AS is_believed
    FROM earlier
),
noted AS (
  INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count, proxy_id)
  SELECT $1::bigint, $2::timestamptz, $3::int, $4::bigint
    FROM judged
   WHERE is_apart AND NOT is_believed AND (SELECT menus FROM earlier) < 6
      ON CONFLICT DO NOTHING
)
SELECT is_believed FROM judged;
