-- Marks workers offline whose process has ended. $1 their ids
UPDATE worker_registry SET status = 'offline', current_task_ids = '{}', active_task_count = 0 WHERE worker_id = ANY ($1)
