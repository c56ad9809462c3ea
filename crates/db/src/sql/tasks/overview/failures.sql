-- Failures of the last $1 hours: how many are mended, how many are not, and those that are not by role and
-- reason, most frequent first. Reasons that differ only in their numbers are one: the newest is shown. A
-- failure is mended when its store was deleted, was crawled completely since, or had a later task of the same
-- role that completed. $2: maximum number of tasks read, the latest ones; $3: maximum number of reasons.
WITH failed AS MATERIALIZED (
  SELECT id, role, dispensary_id, completed_at, left(coalesce(error_message, ''), 1000) AS error
    FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'failed' AND completed_at > now() - make_interval(hours => $1)
   ORDER BY completed_at DESC
   LIMIT $2
), succeeded AS MATERIALIZED (
  SELECT role, dispensary_id, max(completed_at) AS last_at
    FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled') AND status = 'completed' AND completed_at > (SELECT min(completed_at) FROM failed)
     AND (role, dispensary_id) IN (SELECT role, dispensary_id FROM failed)
   GROUP BY role, dispensary_id
), judged AS MATERIALIZED (
  SELECT f.*, d.name AS store_name,
         f.dispensary_id IS NOT NULL
         AND (d.id IS NULL OR d.last_complete_at > f.completed_at OR s.last_at > f.completed_at) IS TRUE AS is_mended
    FROM failed f
    LEFT JOIN dispensaries d ON d.id = f.dispensary_id
    LEFT JOIN succeeded s ON s.role = f.role AND s.dispensary_id = f.dispensary_id
), reasons AS (
  SELECT role, count(*) AS tasks, count(DISTINCT dispensary_id) AS stores, max(completed_at) AS last_at,
         (array_agg(id ORDER BY completed_at DESC, id DESC))[1] AS last_id
    FROM judged
   WHERE NOT is_mended
   GROUP BY role, regexp_replace(error, '\d+', '0', 'g')
   ORDER BY tasks DESC, last_at DESC
   LIMIT $3
)
SELECT $1::int AS hours, count(*) FILTER (WHERE NOT is_mended) AS tasks, count(*) FILTER (WHERE is_mended) AS mended,
       coalesce((SELECT json_agg(json_build_object('role', r.role, 'error_message', j.error, 'tasks', r.tasks, 'stores', r.stores,
                                                   'last_failed_at', json_time(r.last_at), 'last_task_id', r.last_id,
                                                   'store_id', j.dispensary_id, 'store_name', j.store_name)
                                 ORDER BY r.tasks DESC, r.last_at DESC)
                   FROM reasons r JOIN judged j ON j.id = r.last_id), '[]') AS reasons
  FROM judged
