-- stores/list.sql: every store with its crawl state and what its shelf holds.
SELECT d.id, d.name, d.platform, d.platform_dispensary_id, d.slug, d.menu_url, d.city, d.state, d.crawl_enabled, d.last_fetch_at,
       d.last_crawl_at, shelf.products, shelf.in_stock
  FROM dispensaries d
 CROSS JOIN LATERAL (SELECT count(*) AS products, count(*) FILTER (WHERE is_in_stock) AS in_stock
                       FROM store_products WHERE dispensary_id = d.id) shelf
 ORDER BY d.id;
