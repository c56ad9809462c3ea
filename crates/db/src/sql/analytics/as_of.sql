-- analytics/as_of.sql: when a view was refreshed last. $1 view
SELECT json_time(refreshed_at) FROM view_refreshes WHERE name = $1;
