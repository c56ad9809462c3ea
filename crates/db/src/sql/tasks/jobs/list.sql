-- tasks/jobs/list.sql: jobs by age, after id $after; NULL filters nothing. Times are cut to what Rust can read.
SELECT id, job_type, platform, account, priority, status, payload, result, error_message, retry_count, max_retries,
       json_time(scheduled_for) AS scheduled_for,
       json_time(created_at) AS created_at,
       json_time(started_at) AS started_at,
       json_time(completed_at) AS completed_at,
       worker_id, progress_percent, progress_message,
       -- nulls, which a person may write, are left out
       CASE WHEN depends_on IS NOT NULL THEN ARRAY (SELECT d FROM unnest(depends_on) d WHERE d IS NOT NULL) END AS depends_on,
       parent_id,
       -- not EXISTS, which the planner may answer by reading all jobs once
       (SELECT true FROM worker_tasks child WHERE child.parent_task_id = worker_job_queue.id LIMIT 1) IS NOT NULL AS has_children
  FROM worker_job_queue
 WHERE ($id::bigint IS NULL OR id = $id)
   AND ($status::text IS NULL OR status = $status)
   AND ($platform::text IS NULL OR platform = $platform)
   AND ($account::text IS NULL OR account = $account)
   AND ($job_type::text IS NULL OR job_type = $job_type)
   AND ($after::bigint IS NULL OR id {beyond} $after)
   AND ($parent::bigint IS NULL OR parent_id = $parent)
 ORDER BY id {direction}
 LIMIT $limit
