-- counts/stats_minute/prune.sql: removes at most $2 rows of minutes that are older than $1 seconds.
DELETE FROM stats_minute
 WHERE (minute, role, outcome) IN (SELECT s.minute, s.role, s.outcome FROM stats_minute s
                                    WHERE s.minute < now() - make_interval(secs => $1::float8) ORDER BY s.minute LIMIT $2);
