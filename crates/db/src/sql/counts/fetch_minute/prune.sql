-- counts/fetch_minute/prune.sql: removes at most $2 rows of minutes that are older than $1 seconds.
DELETE FROM fetch_minute
 WHERE (minute, process, host, proxy_id, outcome) IN (
         SELECT f.minute, f.process, f.host, f.proxy_id, f.outcome FROM fetch_minute f
          WHERE f.minute < now() - make_interval(secs => $1::float8) ORDER BY f.minute LIMIT $2);
