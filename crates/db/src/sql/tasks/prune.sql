-- Ended tasks past their retention, one batch, oldest first; their attempts go with them by trigger.
-- $1 seconds for completed and cancelled, $2 for failed; $3, $4 those for media jobs; $5 batch
WITH old AS (
  SELECT id
    FROM worker_tasks
   WHERE status IN ('completed', 'failed', 'cancelled')
     AND completed_at < now() - make_interval(secs => least($1::float8, $2::float8, $3::float8, $4::float8))
     AND completed_at < now() - make_interval(secs => CASE WHEN family = 'media'
                                                           THEN CASE status WHEN 'failed' THEN $4 ELSE $3 END
                                                           ELSE CASE status WHEN 'failed' THEN $2 ELSE $1 END END)
   ORDER BY completed_at
   LIMIT $5
     FOR UPDATE SKIP LOCKED
)
DELETE FROM worker_tasks t USING old WHERE t.id = old.id
