-- Makes a pause; one of the same thing gets the new reason and end. $target: name of the thing. $store: its id if it is one.
INSERT INTO pauses AS p (scope, target, dispensary_id, reason, until, created_by)
VALUES ($scope, $target, $store, $reason, $until, $created_by)
ON CONFLICT (scope, target) DO UPDATE
   SET reason = excluded.reason, until = excluded.until, created_at = now(), created_by = excluded.created_by
RETURNING p.id, p.scope, nullif(p.target, '') AS target, p.reason, json_time(p.until) AS until, json_time(p.created_at) AS created_at, p.created_by
