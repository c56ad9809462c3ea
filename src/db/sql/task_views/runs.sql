-- Runs that began within the last $1 seconds, and those named by $2 task ids and $3 fences; oldest first.
WITH run AS (
  SELECT * FROM task_attempts WHERE claimed_at > now() - make_interval(secs => $1)
  UNION
  SELECT a.* FROM unnest($2::bigint[], $3::bigint[]) AS named(task_id, fence) JOIN task_attempts a USING (task_id, fence)
)
SELECT r.task_id, r.fence, r.worker_id, r.outcome, r.error, r.claimed_at, r.finished_at, t.role, t.dispensary_id
  FROM run r LEFT JOIN worker_tasks t ON t.id = r.task_id ORDER BY r.claimed_at, r.task_id, r.fence
