-- Tasks as people see them, newest first. Planned for its values, so that each filter finds its index: ended tasks, of which there are
-- millions, have one for each (indexes/), pending and active ones one by id. $1 to $19 as in filters.sql, $20 rows
WITH page AS MATERIALIZED (
  (SELECT * FROM worker_tasks t
    WHERE t.status IN ('completed', 'failed', 'cancelled') AND {filters}
    ORDER BY t.id DESC LIMIT $20)
  UNION ALL
  (SELECT * FROM worker_tasks t
    WHERE t.status = 'pending' AND {filters}
    ORDER BY t.id DESC LIMIT $20)
  UNION ALL
  (SELECT * FROM worker_tasks t
    WHERE t.status IN ('claimed', 'running') AND {filters}
    ORDER BY t.id DESC LIMIT $20)
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
 LIMIT $20
