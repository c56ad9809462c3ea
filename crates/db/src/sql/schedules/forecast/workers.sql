-- schedules/forecast/workers.sql: slots of the workers that claim tasks or are paused, by the roles that they claim.
SELECT w.roles, sum(w.max_concurrent_tasks)::bigint AS slots,
       coalesce(sum(w.max_concurrent_tasks) FILTER (WHERE w.status = 'paused'), 0)::bigint AS paused
  FROM worker_registry w
 WHERE w.status IN ('active', 'backing_off', 'paused')
 GROUP BY w.roles
