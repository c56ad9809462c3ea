-- counts/charts/written.sql: the time up to which runs are counted for good, and the latest minute with counted
-- requests.
SELECT (SELECT json_time(closed_until) FROM stats_progress) AS runs_until,
       (SELECT json_time(max(minute)) FROM fetch_minute) AS requests_until;
