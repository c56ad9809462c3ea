-- payloads/replays/open_tasks.sql: tasks that replays queued, not claimed yet. $1 their priority
SELECT (SELECT count(*) FROM waiting_tasks w WHERE w.role = 'product_refresh' AND w.priority = $1)
     + (SELECT count(*) FROM worker_tasks t
         WHERE t.status = 'pending' AND t.ready AND t.role = 'product_refresh' AND t.priority = $1);
