-- stores/open_tasks.sql: the open tasks of store $1 with one of the roles $2, each kind by the index that holds
-- just it. A store has a few.
SELECT t.id FROM worker_tasks t
 WHERE t.dispensary_id = $1 AND t.role = ANY ($2) AND (t.status = 'pending' AND t.ready OR t.status IN ('claimed', 'running'))
UNION ALL
SELECT t.id FROM worker_tasks t WHERE t.dispensary_id = $1 AND t.role = ANY ($2) AND t.status = 'pending' AND NOT t.ready AND NOT t.blocked
UNION ALL
SELECT t.id FROM worker_tasks t WHERE t.dispensary_id = $1 AND t.role = ANY ($2) AND t.status = 'pending' AND t.blocked
 LIMIT 1000;
