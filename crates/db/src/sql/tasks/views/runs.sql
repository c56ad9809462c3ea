-- Runs that began within the last $1 seconds, and those named by $2 task ids and $3 fences; oldest first.
-- task_attempts is all runs; past_attempts those before a task's latest, which is in its own row.
WITH recent AS (   -- each kind by its index
  SELECT id AS task_id FROM worker_tasks WHERE status IN ('claimed', 'running')
  UNION
  SELECT id FROM worker_tasks WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - make_interval(secs => $1)
  UNION
  SELECT task_id FROM past_attempts WHERE claimed_at > now() - make_interval(secs => $1)
), run AS (
  SELECT a.* FROM recent JOIN task_attempts a USING (task_id) WHERE a.claimed_at > now() - make_interval(secs => $1)
  UNION
  SELECT a.* FROM unnest($2::bigint[], $3::bigint[]) AS named(task_id, fence) JOIN task_attempts a USING (task_id, fence)
)
SELECT r.task_id, r.fence, r.worker_id, r.outcome, r.error, json_time(r.claimed_at) AS claimed_at,
       json_time(r.finished_at) AS finished_at, t.role, t.dispensary_id
  FROM run r
  LEFT JOIN worker_tasks t ON t.id = r.task_id
 ORDER BY r.claimed_at, r.task_id, r.fence
