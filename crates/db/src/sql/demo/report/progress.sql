-- demo/report/progress.sql: tasks of a crawl by status; a visitor's tasks of other roles do not delay its end. $1 when it began, $2 stores that are
-- not counted
SELECT count(*) FILTER (WHERE status IN ('pending', 'claimed', 'running')) AS open,
       count(*) FILTER (WHERE status = 'completed') AS completed,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
       count(DISTINCT dispensary_id) FILTER (WHERE role = 'product_refresh' AND status = 'completed') AS stores_crawled
  FROM worker_tasks
 WHERE created_at >= $1 AND coalesce(dispensary_id, 0) <> ALL ($2::bigint[])
   AND role IN ('payload_fetch', 'product_refresh', 'analytics_refresh')
