-- payloads/before_fetch.sql: the time at which a store's fetch begins, the number of products on its menu
-- before, and the proxies that have since brought menus too small to be believed. $1 store
SELECT date_trunc('milliseconds', clock_timestamp()) AS fetched_at,
       coalesce((SELECT product_count
                   FROM raw_crawl_payloads
                  WHERE dispensary_id = $1
                  ORDER BY fetched_at DESC, id DESC
                  LIMIT 1),
                (SELECT count(*)
                   FROM store_products
                  WHERE dispensary_id = $1
                    AND provider = (SELECT platform FROM dispensaries WHERE id = $1)
                    AND consecutive_misses < 3)) AS products,
       (SELECT coalesce(array_agg(proxy_id) FILTER (WHERE proxy_id IS NOT NULL), '{}')
          FROM suspicious_menus
         WHERE dispensary_id = $1) AS small_menu_proxies;
