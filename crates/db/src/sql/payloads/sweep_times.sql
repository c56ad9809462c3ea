-- payloads/sweep_times.sql: now, and the time of the latest fetch whose file cannot get a row any more. $1
-- maximum seconds from fetch to row
SELECT clock_timestamp() AS now,
       clock_timestamp() - make_interval(secs => $1) AS before;
