-- stores/quality/look.sql: records which stores have faulty data now, and deletes mended faults. $1 seconds: checks
-- the refreshes that ended since then. Returns the findings that began and ended.
WITH refreshed AS MATERIALIZED (
  SELECT DISTINCT ON (t.dispensary_id) t.dispensary_id, t.result
    FROM worker_tasks t
   WHERE t.status IN ('completed', 'failed', 'cancelled') AND t.status = 'completed' AND t.role = 'product_refresh'
     AND t.completed_at > now() - make_interval(secs => $1) AND t.dispensary_id IS NOT NULL
     -- A replay of an older payload shows a past menu.
     AND t.result ->> 'order' IS DISTINCT FROM 'older'
   ORDER BY t.dispensary_id, t.completed_at DESC
), counted AS MATERIALIZED (
  SELECT r.dispensary_id, number_in(r.result, 'products') AS products, number_in(r.result, 'without_price') AS without_price,
         CASE WHEN jsonb_typeof(r.result -> 'unknown_keys') = 'object' THEN r.result -> 'unknown_keys' ELSE '{}' END AS unknown_keys,
         number_in(r.result -> 'warnings', 'unknown_status') AS unknown_statuses, number_in(r.result -> 'warnings', 'unknown_unit') AS unknown_units
    FROM refreshed r
), found AS MATERIALIZED (
  SELECT c.dispensary_id, 'empty_prices' AS kind,
         format('%s of the %s products of its latest refresh have no price', c.without_price, c.products) AS detail
    FROM counted c
   WHERE c.products >= 20 AND c.without_price * 5 > c.products
   UNION ALL
  SELECT c.dispensary_id, 'unknown_keys',
         'its latest refresh met unknown keys: ' || (SELECT string_agg(left(k.key, 40), ', ' ORDER BY k.key)
                                                       FROM (SELECT jsonb_object_keys(c.unknown_keys) AS key LIMIT 10) k)
    FROM counted c
   WHERE c.unknown_keys <> '{}'
   UNION ALL
  SELECT d.id, 'halved_menu',
         CASE m.product_count WHEN 0 THEN 'its menu came back empty, which is not believed yet'
                              ELSE format('a menu of %s products is not believed yet: it held far more before', m.product_count) END
    FROM (SELECT DISTINCT ON (s.dispensary_id) s.dispensary_id, s.product_count
            FROM suspicious_menus s ORDER BY s.dispensary_id, s.fetched_at DESC) m
    JOIN dispensaries d ON d.id = m.dispensary_id
   -- Without a whole crawl before, no menu was larger.
   WHERE d.crawl_enabled AND d.last_complete_at IS NOT NULL AND (m.product_count > 0 OR d.empty_accepted_at IS NULL)
   UNION ALL
  SELECT s.store, 'suspicious_switch',
         string_agg(format(CASE s.kind WHEN 'products' THEN 'its latest menu would put %s of %s products out of stock at once, which is not believed yet'
                                       ELSE 'the latest discovery would close %s of %s stores at once, which is not believed yet' END
                           || ': if it is so, `drover stores accept %s`', s.switched, s.covered, s.store), '; ' ORDER BY s.kind)
    FROM (SELECT DISTINCT ON (w.kind, w.scope, store) w.kind, w.switched, w.covered, store
            FROM suspicious_switches w, unnest(w.dispensary_ids) AS store
           ORDER BY w.kind, w.scope, store, w.seen_at DESC) s
    JOIN dispensaries d ON d.id = s.store
   WHERE d.crawl_enabled
   GROUP BY s.store
   UNION ALL
  SELECT u.store, 'unknown_words', string_agg(u.detail, '; ' ORDER BY u.detail)
    FROM (SELECT c.dispensary_id AS store,
                 format('its latest refresh met unknown words: %s for the status, %s for a unit of products',
                        c.unknown_statuses, c.unknown_units) AS detail
            FROM counted c
           WHERE c.unknown_statuses + c.unknown_units > 0
           UNION ALL
          SELECT d.id, format('the latest discovery gave its status as ''%s'', which is unknown', left(l.unknown_status, 40))
            FROM found_stores l
            JOIN dispensaries d ON d.platform = l.platform AND d.platform_dispensary_id = l.platform_dispensary_id
           WHERE l.unknown_status IS NOT NULL AND d.crawl_enabled) u
   GROUP BY u.store
   UNION ALL
  SELECT d.id, 'blind_store',
         CASE WHEN d.last_complete_at IS NULL THEN 'it has never been crawled whole'
              ELSE format('it was last crawled whole on %s UTC',
                          to_char(d.last_complete_at AT TIME ZONE 'UTC', 'YYYY-MM-DD at HH24:MI')) END
         || format(', and its schedule crawls it every %s hours', i.hours)
    FROM dispensaries d
   CROSS JOIN LATERAL (SELECT crawl_interval_hours(d) AS hours) i
   WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
     AND coalesce(d.last_complete_at, d.created_at) < now() - 3 * i.hours * interval '1 hour'
), mended AS (
  DELETE FROM quality_findings q
   WHERE (q.kind IN ('halved_menu', 'blind_store', 'suspicious_switch') OR q.dispensary_id IN (SELECT r.dispensary_id FROM refreshed r)
          OR NOT (SELECT d.crawl_enabled FROM dispensaries d WHERE d.id = q.dispensary_id))
     AND NOT EXISTS (SELECT FROM found f WHERE f.dispensary_id = q.dispensary_id AND f.kind = q.kind)
  RETURNING q.dispensary_id, q.kind, q.detail
), noted AS (
  INSERT INTO quality_findings AS q (dispensary_id, kind, detail)
  SELECT f.dispensary_id, f.kind, f.detail FROM found f ORDER BY f.dispensary_id, f.kind
  ON CONFLICT (dispensary_id, kind) DO UPDATE SET detail = excluded.detail, seen_at = now()
  RETURNING q.dispensary_id, q.kind, q.detail, q.since = now() AS begins
)
SELECT n.dispensary_id, n.kind, n.detail, true AS begins FROM noted n WHERE n.begins
 UNION ALL
SELECT m.dispensary_id, m.kind, m.detail, false FROM mended m
