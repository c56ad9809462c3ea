-- demo/report/faulty.sql: the state of each of the stores $2, and its tasks that failed since $1
SELECT d.name, s.crawl_status,
       (SELECT count(*) FROM worker_tasks t WHERE t.dispensary_id = d.id AND t.status = 'failed' AND t.completed_at >= $1) AS failed
  FROM dispensaries d JOIN v_store_statuses s ON s.dispensary_id = d.id
 WHERE d.id = ANY ($2) ORDER BY d.id
