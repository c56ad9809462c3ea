-- payloads/before_fetch.sql: the time at which a store's fetch begins, the number of products on its menu
-- before, whether an empty menu is expected, and the proxies that have since brought menus too small to be
-- believed. $1 store
SELECT date_trunc('milliseconds', clock_timestamp()) AS fetched_at,
       coalesce(latest.product_count,
                (SELECT count(*)
                   FROM store_products
                  WHERE dispensary_id = $1
                    AND provider = d.platform
                    AND consecutive_misses < 3)) AS products,
       coalesce(d.empty_accepted_at IS NOT NULL OR latest.product_count = 0, false) AS expects_empty,
       (SELECT coalesce(array_agg(proxy_id) FILTER (WHERE proxy_id IS NOT NULL), '{}')
          FROM suspicious_menus
         WHERE dispensary_id = $1) AS small_menu_proxies
  FROM (SELECT $1::bigint AS id) asked
  LEFT JOIN dispensaries d USING (id)
  LEFT JOIN LATERAL (SELECT product_count
                       FROM raw_crawl_payloads
                      WHERE dispensary_id = $1
                      ORDER BY fetched_at DESC, id DESC
                      LIMIT 1) latest ON true;
