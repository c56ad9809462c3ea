-- analytics/note_refresh.sql: records a refresh that ended now. $1 view
INSERT INTO view_refreshes (name, refreshed_at) VALUES ($1, now())
    ON CONFLICT (name) DO UPDATE SET refreshed_at = now();
