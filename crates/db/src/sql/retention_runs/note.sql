-- retention_runs/note.sql: records a run that ended now. $1 kind, $2 number of removed items
INSERT INTO retention_runs (kind, removed) VALUES ($1, $2)
ON CONFLICT (kind) DO UPDATE SET ran_at = now(), removed = excluded.removed
