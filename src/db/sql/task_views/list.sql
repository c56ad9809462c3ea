-- Tasks as people see them, newest first; a null filters nothing. Planned for its values, so that each filter finds its index.
-- $1 stored statuses, $2 whether the lease must have run out, $3 roles, $4 store, $5 platform, $6 worker, $7 how an id, a worker's id
-- or a store's slug begins, $8 and $9 created from and before, $10 ids below this, $11 just these ids,
-- $12 schedule, $13 parent, $14 a part of the error, $15 least retries, $16 rows
WITH page AS MATERIALIZED (
  SELECT * FROM worker_tasks t
   WHERE ($1 IS NULL OR t.status = ANY ($1))
     AND ($2 IS NULL OR ((t.lease_expires_at > now()) IS NOT TRUE) = $2)
     AND ($3 IS NULL OR t.role = ANY ($3))
     AND ($4 IS NULL OR t.dispensary_id = $4)
     AND ($5 IS NULL OR t.platform = $5)
     AND ($6 IS NULL OR t.worker_id = $6)
     AND ($7 IS NULL OR starts_with(t.id::text, $7) OR starts_with(t.worker_id, $7)
          OR t.dispensary_id IN (SELECT id FROM dispensaries WHERE starts_with(slug, $7)))
     AND ($8 IS NULL OR t.created_at >= $8)
     AND ($9 IS NULL OR t.created_at < $9)
     AND ($10 IS NULL OR t.id < $10)
     AND ($11 IS NULL OR t.id = ANY ($11))
     AND ($12 IS NULL OR t.schedule_id = $12)
     AND ($13 IS NULL OR t.parent_task_id = $13)
     AND ($14 IS NULL OR strpos(lower(t.error_message), lower($14)) > 0)
     AND ($15 IS NULL OR t.retry_count >= $15)
   ORDER BY t.id DESC LIMIT $16
)
SELECT t.id, t.role, t.dispensary_id, d.name AS dispensary_name, t.platform,
       CASE WHEN t.status IN ('claimed', 'running') AND (t.lease_expires_at > now()) IS NOT TRUE THEN 'stale' ELSE t.status END AS status,
       t.priority, t.payload, t.result, t.worker_id, w.friendly_name AS worker_name, t.retry_count, t.max_retries, t.error_message,
       json_time(t.scheduled_for) AS scheduled_for,
       json_time(t.created_at) AS created_at,
       json_time(t.updated_at) AS updated_at,
       json_time(t.claimed_at) AS claimed_at,
       json_time(t.started_at) AS started_at,
       json_time(t.completed_at) AS completed_at,
       json_time(t.last_heartbeat_at) AS last_heartbeat_at,
       json_time(t.lease_expires_at) AS lease_expires_at,
       t.parent_task_id, t.schedule_id, t.progress_percent, t.progress_message, t.ready, t.dedup_key,
       -- nulls and dimensions, which a person may write, are left out
       CASE WHEN t.depends_on IS NOT NULL THEN ARRAY (SELECT d FROM unnest(t.depends_on) d WHERE d IS NOT NULL) END AS depends_on
  FROM page t
  LEFT JOIN dispensaries d ON d.id = t.dispensary_id
  LEFT JOIN worker_registry w ON w.worker_id = t.worker_id
 ORDER BY t.id DESC
