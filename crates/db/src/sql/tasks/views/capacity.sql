SELECT role, pending_tasks, ready_tasks, claimed_tasks, running_tasks, completed_last_hour, failed_last_hour, active_workers,
       avg_duration_sec, tasks_per_worker_hour, estimated_hours_to_drain, measured_runs
  FROM v_worker_capacity
 ORDER BY role
