-- forecast/workers.sql: slots of the workers that claim tasks, by the roles that they claim.
SELECT w.roles, sum(w.max_concurrent_tasks)::bigint AS slots
  FROM worker_registry w
 WHERE w.status IN ('active', 'backing_off')
 GROUP BY w.roles
