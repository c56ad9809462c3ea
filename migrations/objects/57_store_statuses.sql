-- The state of each store's crawls: one word, the first that fits. `interval_hours` is null for a store that no schedule with an interval
-- crawls: it is never late. A crawl takes time, so a store is late a quarter after its interval.
CREATE OR REPLACE VIEW v_store_statuses AS
SELECT aged.id AS dispensary_id, aged.interval_hours,
       CASE WHEN aged.platform_dispensary_id IS NULL THEN 'needs_menu_id'
            WHEN aged.id IN (SELECT t.dispensary_id FROM worker_tasks t WHERE t.status = 'pending' AND t.waits_for_host IS NOT NULL)
              THEN 'held'
            WHEN aged.id IN (SELECT s.dispensary_id FROM suspicious_menus s WHERE s.product_count = 0
                              GROUP BY s.dispensary_id HAVING count(*) >= 3)
              THEN 'empty_menu'
            WHEN aged.last_complete_at IS NULL THEN 'never_crawled'
            WHEN aged.last_complete_at <= now() - aged.interval_hours * 1.25 * interval '1 hour' THEN 'late'
            ELSE 'fresh' END AS crawl_status
  FROM (SELECT d.id, d.platform_dispensary_id, d.last_complete_at, crawl_interval_hours(d) AS interval_hours FROM dispensaries d) aged;
