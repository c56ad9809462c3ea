-- Ages of the menus of crawled stores. A store is fresh while its last complete crawl is at most a quarter
-- older than the shortest interval of the schedules that crawl it: a crawl takes time. Stores without an
-- interval are counted as neither. $1: maximum number of the oldest that are listed.
WITH crawled AS MATERIALIZED (
  SELECT d.id, d.name, d.last_complete_at, d.last_payload_id,
         crawl_interval_hours(d) AS interval_hours
    FROM dispensaries d
   WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
), aged AS (
  SELECT *, coalesce(last_complete_at > now() - interval_hours * 1.25 * interval '1 hour', false) AS is_fresh FROM crawled
), old AS (
  SELECT id, name, last_complete_at, interval_hours FROM aged
   WHERE NOT is_fresh AND interval_hours IS NOT NULL
   ORDER BY last_complete_at NULLS FIRST, id
   LIMIT $1
)
SELECT count(*) AS crawled,
       count(*) FILTER (WHERE is_fresh) AS fresh,
       count(*) FILTER (WHERE interval_hours IS NULL) AS unscheduled,
       coalesce(sum(p.product_count), 0)::bigint AS products,
       coalesce(sum(p.total_count), 0)::bigint AS announced,
       coalesce((SELECT json_agg(json_build_object('id', o.id, 'name', o.name, 'last_complete_at', json_time(o.last_complete_at),
                                                   'interval_hours', o.interval_hours)
                                 ORDER BY o.last_complete_at NULLS FIRST, o.id) FROM old o), '[]') AS oldest
  FROM aged a LEFT JOIN raw_crawl_payloads p ON p.id = a.last_payload_id
