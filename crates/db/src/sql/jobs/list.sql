-- jobs/list.sql: jobs by age. $1 id, $2 status, $3 platform, $4 account, $5 job type, $6 after this
-- id, $8 parent; NULL filters nothing. At most $7. Times are cut to what Rust can read.
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
 WHERE ($1::bigint IS NULL OR id = $1)
   AND ($2::text IS NULL OR status = $2)
   AND ($3::text IS NULL OR platform = $3)
   AND ($4::text IS NULL OR account = $4)
   AND ($5::text IS NULL OR job_type = $5)
   AND ($6::bigint IS NULL OR id {beyond} $6)
   AND ($8::bigint IS NULL OR parent_id = $8)
 ORDER BY id {direction}
 LIMIT $7
