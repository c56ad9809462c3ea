-- counts/fetch_store_day/prune.sql: removes at most $2 rows of days that ended more than $1 seconds ago.
DELETE FROM fetch_store_day
 WHERE (day, dispensary_id, process) IN (
         SELECT f.day, f.dispensary_id, f.process FROM fetch_store_day f
          WHERE f.day < ((now() - make_interval(secs => $1::float8)) AT TIME ZONE 'UTC')::date ORDER BY f.day LIMIT $2);
