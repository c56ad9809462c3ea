-- All pauses in force, the widest scope first.
SELECT id, scope, nullif(target, '') AS target, reason, json_time(until) AS until, json_time(created_at) AS created_at, created_by
  FROM pauses_in_force
 ORDER BY array_position('{all,family,role,pod,worker,host,store}', scope), target, id
