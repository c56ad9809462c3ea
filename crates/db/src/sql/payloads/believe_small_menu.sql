-- payloads/believe_small_menu.sql: records a menu that is too small to be believed at once, unless it is
-- believed: the third in a row, hours apart and not all through one proxy where there are several, or the
-- sixth. An empty menu is not believed. Returns whether it is. $began_at: of its fetch
WITH earlier AS (
  SELECT count(*) AS menus, max(fetched_at) AS latest, array_agg(proxy_id) AS proxies
    FROM suspicious_menus
   WHERE dispensary_id = $store
),
judged AS (
  SELECT coalesce(latest <= $began_at::timestamptz - interval '2 hours', true) AS is_apart,
         $products::int > 0
         AND menus >= 2
         AND latest <= $began_at::timestamptz - interval '2 hours'
         AND ((SELECT count(DISTINCT proxy) FROM unnest(proxies || $proxy::bigint) AS proxy) > 1
              OR (SELECT count(*) FROM proxies WHERE is_active OR cooldown_until IS NOT NULL) < 2
              OR menus >= 5      -- perhaps no other proxy is chosen for this store
             ) AS is_believed
    FROM earlier
),
noted AS (
  INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count, proxy_id)
  SELECT $store::bigint, $began_at::timestamptz, $products::int, $proxy::bigint
    FROM judged
   WHERE is_apart AND NOT is_believed AND (SELECT menus FROM earlier) < 6
      ON CONFLICT DO NOTHING
)
SELECT is_believed FROM judged;
