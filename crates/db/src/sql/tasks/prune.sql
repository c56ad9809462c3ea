-- Ended tasks past their retention in seconds, one batch, oldest first; their attempts go with them by trigger.
-- $completed is for cancelled ones, too.
WITH old AS (
  SELECT id
    FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled')
     AND completed_at < now() - make_interval(secs => least($completed::float8, $failed::float8, $completed_jobs::float8, $failed_jobs::float8))
     AND completed_at < now() - make_interval(secs => CASE WHEN family = 'media'
                                                           THEN CASE status WHEN 'failed' THEN $failed_jobs ELSE $completed_jobs END
                                                           ELSE CASE status WHEN 'failed' THEN $failed ELSE $completed END END)
   ORDER BY completed_at
   LIMIT $batch
     FOR UPDATE SKIP LOCKED
)
DELETE FROM worker_tasks t USING old WHERE t.id = old.id
