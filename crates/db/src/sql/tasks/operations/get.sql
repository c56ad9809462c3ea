-- $1 operation. Tasks that another operation or a person changed or deleted before their turn are counted as
-- gone once it has ended
SELECT id, action, filter, change, state, matched, done, failed,
       CASE WHEN ended_at IS NULL THEN 0 ELSE greatest(matched - done - failed, 0) END AS gone, failures, error, created_by, json_time(created_at) AS created_at,
       json_time(updated_at) AS updated_at, json_time(ended_at) AS ended_at
  FROM operations WHERE id = $1
