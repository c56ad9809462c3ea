-- demo/report/survived.sql: failed runs since $1 whose task succeeded later, without the stores $2
SELECT count(*) FROM past_attempts a JOIN worker_tasks t ON t.id = a.task_id
 WHERE a.claimed_at >= $1 AND a.outcome = 'failed' AND t.status = 'completed' AND coalesce(t.dispensary_id, 0) <> ALL ($2::bigint[])
