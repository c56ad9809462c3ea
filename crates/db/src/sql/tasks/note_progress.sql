-- Records the progress of a run, for display; does nothing if it has lost its lease. $1 task, $2 fence, $3
-- worker, $4 percent, $5 message
UPDATE worker_tasks
   SET progress_percent = $4, progress_message = $5, updated_at = now()
 WHERE id = $1 AND fence = $2 AND worker_id = $3 AND status IN ('claimed', 'running')
