-- retention_runs/note.sql: a run that ended now. $1 kind, $2 how much it removed
INSERT INTO retention_runs (kind, removed) VALUES ($1, $2)
ON CONFLICT (kind) DO UPDATE SET ran_at = now(), removed = excluded.removed
