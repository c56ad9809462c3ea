-- payloads/sweep_times.sql: now, and the time before which a fetch must have begun for its file to get no row any more.
-- $1 seconds from fetch to row, at most
SELECT clock_timestamp() AS now,
       clock_timestamp() - make_interval(secs => $1) AS before;
