-- stores/views/list.sql: stores with their crawl state, and how many match in all. Planned for its values. $id: the one store. $sort: id,
-- trouble, name, state, last_complete. $after_…: where the page before ended
WITH matching AS MATERIALIZED (
  SELECT d.id,
         CASE $sort
           WHEN 'trouble' THEN CASE WHEN NOT d.crawl_enabled THEN 9
                                    ELSE coalesce(array_position(ARRAY['needs_menu_id', 'empty_menu', 'late', 'held', 'never_crawled', 'fresh'],
                                                                 s.crawl_status), 8) END
           WHEN 'last_complete' THEN CASE WHEN isfinite(d.last_complete_at) THEN (extract(epoch FROM d.last_complete_at) * 1000000)::bigint
                                          ELSE 0 END
           WHEN 'state' THEN (d.state IS NULL)::int
           ELSE 0 END AS number,
         CASE $sort WHEN 'trouble' THEN lower(d.name) WHEN 'name' THEN lower(d.name) WHEN 'state' THEN coalesce(d.state, '') ELSE '' END AS text
    FROM dispensaries d
    LEFT JOIN v_store_statuses s ON s.dispensary_id = d.id AND $sort = 'trouble'
   WHERE {stores/views/filters.sql}
     AND ($id::bigint IS NULL OR d.id = $id)
), part AS MATERIALIZED (
  SELECT m.id, m.number, m.text,
         row_number() OVER (ORDER BY CASE WHEN $is_backwards THEN -m.number ELSE m.number END, CASE WHEN NOT $is_backwards THEN m.text END,
                                     CASE WHEN $is_backwards THEN m.text END DESC, CASE WHEN $is_backwards THEN -m.id ELSE m.id END) AS place
    FROM matching m
   WHERE $after_id::bigint IS NULL
      OR CASE WHEN $is_backwards THEN (m.number, m.text, m.id) < ($after_number, $after_text, $after_id)
              ELSE (m.number, m.text, m.id) > ($after_number, $after_text, $after_id) END
   ORDER BY place LIMIT $limit
), page AS MATERIALIZED (
  SELECT d.*, p.number AS sort_number, p.text AS sort_text, p.place FROM part p JOIN dispensaries d ON d.id = p.id
)
SELECT (SELECT count(*) FROM matching) AS total, shown.*
  FROM (SELECT) always
  LEFT JOIN (
SELECT d.place, d.sort_number, d.sort_text, d.id, d.name, d.slug, d.platform, d.platform_dispensary_id, d.menu_url, d.address, d.city, d.state, d.zip, d.latitude, d.longitude,
       d.phone, d.timezone, d.is_recreational, d.is_medical, d.licences, d.website, d.email, d.retailer_id, d.groups, d.crawl_enabled,
       (SELECT coalesce(json_agg(json_build_object('platform', f.platform, 'platform_dispensary_id', f.platform_dispensary_id,
                                                   'replaced_at', json_time(f.replaced_at)) ORDER BY f.replaced_at DESC), '[]')
          FROM former_menus f WHERE f.dispensary_id = d.id) AS former_menus,
       s.crawl_status, d.disabled_reason, d.last_payload_id,
       lookup.id AS lookup_task_id, lookup.error_message AS lookup_error, json_time(lookup.next_at) AS lookup_next_at,
       (SELECT count(*) FROM suspicious_menus m WHERE m.dispensary_id = d.id AND m.product_count = 0) AS empty_menus,
       (SELECT coalesce(json_agg(json_build_object('kind', w.kind, 'switched', w.switched, 'covered', w.covered, 'seen_at', json_time(w.seen_at),
                                                   'is_accepted', w.accepted_at IS NOT NULL) ORDER BY w.kind, w.scope), '[]')
          FROM (SELECT DISTINCT ON (x.kind, x.scope) x.* FROM suspicious_switches x WHERE d.id = ANY (x.dispensary_ids)
                 ORDER BY x.kind, x.scope, x.seen_at DESC) w) AS suspicious,
       json_time(d.last_fetch_at) AS last_fetch_at,
       json_time(d.last_crawl_at) AS last_crawl_at,
       json_time(d.last_payload_at) AS last_payload_at,
       json_time(d.last_complete_at) AS last_complete_at,
       CASE WHEN p.total_count > 0 THEN p.coverage END AS last_coverage,
       coalesce(menu.products, 0) AS products,
       coalesce(menu.in_stock, 0) AS in_stock,
       coalesce(menu.on_special, 0) AS on_special
  FROM page d
  JOIN v_store_statuses s ON s.dispensary_id = d.id
  LEFT JOIN raw_crawl_payloads p ON p.id = d.last_payload_id
  LEFT JOIN LATERAL (      -- each kind of task by the index that holds just it; the open one counts
       SELECT l.id, l.error_message, l.next_at
         FROM ((SELECT t.id, t.error_message, NULL::timestamptz AS next_at FROM worker_tasks t
                 WHERE t.status IN ('completed', 'failed', 'cancelled') AND t.dispensary_id = d.id
                   AND t.role = 'entry_point_discovery' AND t.status = 'failed'
                 ORDER BY t.id DESC LIMIT 1)
               UNION ALL
               (SELECT t.id, t.error_message, coalesce(t.scheduled_for, t.created_at) FROM worker_tasks t
                 WHERE t.dispensary_id = d.id AND t.role = 'entry_point_discovery'
                   AND (t.status = 'pending' AND t.ready OR t.status IN ('claimed', 'running')))
               UNION ALL
               (SELECT t.id, t.error_message, coalesce(t.scheduled_for, t.created_at) FROM worker_tasks t
                 WHERE t.dispensary_id = d.id AND t.role = 'entry_point_discovery' AND t.status = 'pending' AND NOT t.ready AND NOT t.blocked
                 ORDER BY t.priority DESC, t.id LIMIT 1)) l
        ORDER BY l.next_at IS NULL, l.id DESC LIMIT 1) lookup ON d.platform_dispensary_id IS NULL
  LEFT JOIN (SELECT dispensary_id, count(*) AS products, count(*) FILTER (WHERE is_in_stock) AS in_stock,
                    count(*) FILTER (WHERE is_in_stock AND is_on_special) AS on_special
               FROM store_products
              WHERE dispensary_id IN (SELECT id FROM page)
              GROUP BY dispensary_id) menu ON menu.dispensary_id = d.id
  ) shown ON true
 ORDER BY shown.place
