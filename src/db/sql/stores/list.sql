-- stores/list.sql: every store, or those of group $1, with its crawl state and its counts of products.
SELECT d.id, d.name, d.platform, d.platform_dispensary_id, d.slug, d.menu_url, d.city, d.state, d.groups, d.crawl_enabled,
       json_time(d.last_fetch_at) AS last_fetch_at,
       json_time(d.last_crawl_at) AS last_crawl_at,
       menu.products, menu.in_stock
  FROM dispensaries d
 CROSS JOIN LATERAL (SELECT count(*) AS products, count(*) FILTER (WHERE is_in_stock) AS in_stock
                       FROM store_products WHERE dispensary_id = d.id) menu
 WHERE $1::text IS NULL OR $1 = ANY (d.groups)
 ORDER BY d.id;
