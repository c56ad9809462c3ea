-- counts/stats_minute/lock.sql: the minutes to count now, at most $1 seconds of them, and the time up to which they
-- do not change any more: a run's end is visible at most $2 seconds later. No row: another process counts
-- them.
SELECT p.closed_until AS from_minute, s.to_minute,
       greatest(p.closed_until, least(s.to_minute, date_bin('1 minute', clock_timestamp() - make_interval(secs => $2),
                                                            timestamptz '2000-01-01 00:00:00Z'))) AS closed_until,
       s.to_minute > clock_timestamp() AS is_last
  FROM stats_progress p
 CROSS JOIN LATERAL (SELECT least(p.closed_until + make_interval(secs => $1),
                                  date_bin('1 minute', clock_timestamp(), timestamptz '2000-01-01 00:00:00Z') + interval '1 minute')
                              AS to_minute) s
   FOR NO KEY UPDATE OF p SKIP LOCKED;
