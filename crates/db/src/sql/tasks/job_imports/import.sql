-- tasks/job_imports/import.sql: brings jobs of an older queue over, in the order of the list. $1 source, $2 jobs
SELECT j.old_id, i.task, i.is_new
  FROM jsonb_to_recordset($2) AS j(old_id bigint, made_at timestamptz, job_type text, platform text, account text, priority int,
                                   payload jsonb, scheduled_for timestamptz, max_retries int, retry_count int, ended_as text,
                                   started_at timestamptz, completed_at timestamptz, error_message text)
 CROSS JOIN LATERAL import_job($1, j.old_id, j.made_at, j.job_type, j.platform, j.account, j.priority, j.payload, j.scheduled_for,
                               j.max_retries, j.retry_count, j.ended_as, j.started_at, j.completed_at, j.error_message) i
