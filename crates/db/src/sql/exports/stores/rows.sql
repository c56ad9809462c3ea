-- exports/stores/rows.sql: stores, in their order. $is_begun: the first one was read.
SELECT h.place, v.store, v.platform, v.platform_dispensary_id, v.slug, v.menu_url, v.address, v.city, v.state, v.zip, v.latitude, v.longitude,
       v.phone, v.timezone, v.is_recreational, v.is_medical, array_to_string(v.groups, ';') AS groups, v.crawl_enabled, v.last_crawl_at,
       v.last_complete_at, v.last_coverage, v.products, v.in_stock, v.on_special, v.created_at
  FROM unnest($stores::bigint[]) WITH ORDINALITY AS h (id, place)
 CROSS JOIN LATERAL (SELECT * FROM drover_v1.stores v WHERE v.store_id = h.id OFFSET 0) v
 WHERE h.place > 1 OR NOT $is_begun
 LIMIT $limit
