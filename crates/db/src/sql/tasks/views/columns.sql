-- A task t for display, with its store d and its worker w: the columns of the other statements
t.id, t.role, t.dispensary_id, d.name AS dispensary_name, t.platform,
       CASE WHEN t.status IN ('claimed', 'running') AND (t.lease_expires_at > now()) IS NOT TRUE THEN 'stale' ELSE t.status END AS status,
       t.priority, t.payload, t.result, t.worker_id, coalesce(w.friendly_name, (SELECT n.friendly_name FROM worker_names n WHERE n.worker_id = t.worker_id)) AS worker_name,
       t.retry_count, t.max_retries, t.error_message,
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
