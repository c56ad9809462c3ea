-- charts/written.sql: up to when runs are counted for good, and the latest minute of which requests are.
SELECT (SELECT json_time(closed_until) FROM stats_progress) AS runs_until,
       (SELECT json_time(max(minute)) FROM fetch_minute) AS requests_until;
