-- Failures of the last $1 hours, by role and reason, most frequent first. Reasons that differ only in their
-- numbers are one: the newest is shown. $2: maximum number of tasks read, the latest ones; $3 rows.
WITH failed AS MATERIALIZED (
  SELECT id, role, dispensary_id, completed_at, left(coalesce(error_message, ''), 1000) AS error
    FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'failed' AND completed_at > now() - make_interval(hours => $1)
   ORDER BY completed_at DESC
   LIMIT $2
), reasons AS (
  SELECT role, count(*) AS tasks, count(DISTINCT dispensary_id) AS stores, max(completed_at) AS last_at,
         (array_agg(id ORDER BY completed_at DESC, id DESC))[1] AS last_id
    FROM failed
   GROUP BY role, regexp_replace(error, '\d+', '0', 'g')
)
SELECT r.role, r.tasks, r.stores, json_time(r.last_at) AS last_failed_at, r.last_id AS last_task_id, f.error AS error_message,
       d.id AS store_id, d.name AS store_name, (SELECT count(*) FROM failed) AS failed,
       (SELECT count(*) FROM failed m JOIN dispensaries s ON s.id = m.dispensary_id WHERE s.last_complete_at > m.completed_at) AS mended
  FROM reasons r
  JOIN failed f ON f.id = r.last_id
  LEFT JOIN dispensaries d ON d.id = f.dispensary_id
 ORDER BY r.tasks DESC, r.last_at DESC
 LIMIT $3
