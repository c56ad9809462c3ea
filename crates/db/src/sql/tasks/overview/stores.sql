-- Enabled stores by the state of their crawls, and the ones with trouble: those that need a person first,
-- then the oldest. $1: maximum number of stores that are listed.
WITH enabled AS MATERIALIZED (
  SELECT d.id, d.name, d.last_complete_at, d.last_payload_id, s.interval_hours, s.crawl_status
    FROM dispensaries d JOIN v_store_statuses s ON s.dispensary_id = d.id
   WHERE d.crawl_enabled
), troubled AS (
  SELECT *, array_position('{empty_menu,needs_menu_id}', crawl_status) AS urgency
    FROM enabled
   WHERE crawl_status <> 'fresh' AND NOT (crawl_status = 'never_crawled' AND interval_hours IS NULL)
   ORDER BY urgency, last_complete_at NULLS FIRST, id
   LIMIT $1
)
SELECT count(*) AS enabled,
       count(*) FILTER (WHERE crawl_status = 'fresh') AS fresh,
       count(*) FILTER (WHERE crawl_status = 'late') AS late,
       count(*) FILTER (WHERE crawl_status = 'never_crawled') AS never_crawled,
       count(*) FILTER (WHERE crawl_status = 'needs_menu_id') AS needs_menu_id,
       count(*) FILTER (WHERE crawl_status = 'empty_menu') AS empty_menu,
       count(*) FILTER (WHERE crawl_status = 'held') AS held,
       count(*) FILTER (WHERE interval_hours IS NULL) AS unscheduled,
       coalesce(sum(p.product_count), 0)::bigint AS products,
       coalesce(sum(p.total_count), 0)::bigint AS announced,
       coalesce((SELECT json_agg(json_build_object('id', t.id, 'name', t.name, 'crawl_status', t.crawl_status,
                                                   'last_complete_at', json_time(t.last_complete_at), 'interval_hours', t.interval_hours)
                                 ORDER BY t.urgency, t.last_complete_at NULLS FIRST, t.id) FROM troubled t), '[]') AS troubled
  FROM enabled e LEFT JOIN raw_crawl_payloads p ON p.id = e.last_payload_id
