-- demo/tasks/spent.sql: tasks of a demo's crawl that failed, were cancelled, or wait for another try. $1 when the
-- crawl began, $2 stores in trouble on purpose
SELECT t.id FROM worker_tasks t
 WHERE t.created_at >= $1::timestamptz AND t.role IN ('payload_fetch', 'product_refresh')
   AND (t.status IN ('failed', 'cancelled') OR t.status = 'pending' AND (t.retry_count > 0 OR t.scheduled_for > now()))
   AND coalesce(t.dispensary_id, 0) <> ALL ($2::bigint[])
 ORDER BY t.id
