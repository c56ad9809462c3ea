-- demo/tasks/of_others.sql: fetches and discoveries that a demo's crawl did not make: its own have the time of
-- its transaction. $1 when the crawl began, or null, $2 stores in trouble on purpose
SELECT t.id FROM worker_tasks t
 WHERE t.role IN ('store_discovery', 'entry_point_discovery', 'product_discovery', 'payload_fetch')
   AND (t.status = 'pending' OR t.status IN ('failed', 'cancelled') AND t.created_at >= $1::timestamptz)
   AND t.created_at IS DISTINCT FROM $1
   AND coalesce(t.dispensary_id, 0) <> ALL ($2::bigint[])
 ORDER BY t.id
