-- Records the progress of a run, for display; does nothing if it has lost its lease.
UPDATE worker_tasks
   SET progress_percent = $percent, progress_message = $message, updated_at = now()
 WHERE id = $id AND fence = $fence AND worker_id = $worker_id AND status IN ('claimed', 'running')
