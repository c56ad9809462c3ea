-- Makes a pause; one of the same thing gets the new reason and end. $1 scope, $2 name of the thing, $3 its id if it is a store, $4 reason,
-- $5 end or null, $6 caller.
INSERT INTO pauses AS p (scope, target, dispensary_id, reason, until, created_by)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (scope, target) DO UPDATE
   SET reason = excluded.reason, until = excluded.until, created_at = now(), created_by = excluded.created_by
RETURNING p.id, p.scope, nullif(p.target, '') AS target, p.reason, json_time(p.until) AS until, json_time(p.created_at) AS created_at, p.created_by
