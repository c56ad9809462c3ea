-- $1 operation
SELECT id, action, filter, change, state, matched, done, failed, failures, error, created_by, json_time(created_at) AS created_at,
       json_time(updated_at) AS updated_at, json_time(ended_at) AS ended_at
  FROM operations WHERE id = $1
