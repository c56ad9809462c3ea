-- counts/charts/series.sql: counts by minute, until before $to, as series of points of $seconds, of $metric, by the dimension
-- $by. Returns the largest $series, and the sum of the others without a key. Planned for its values: it reads only one
-- of the three tables. By store, whole days (UTC) are counted: the points must be whole days.
WITH counted AS (
  SELECT s.minute, CASE $by::text WHEN 'role' THEN s.role ELSE s.outcome END AS key,
         CASE $metric::text WHEN 'waits' THEN s.waits WHEN 'runs' THEN s.runs WHEN 'products' THEN s.products ELSE s.tasks END AS number,
         CASE $metric WHEN 'waits' THEN s.wait_seconds WHEN 'runs' THEN s.run_seconds ELSE 0 END AS seconds
    FROM stats_minute s
   WHERE $metric IN ('tasks', 'waits', 'runs', 'products') AND s.minute >= $from::timestamptz AND s.minute < $to::timestamptz
  UNION ALL
  SELECT f.minute, CASE $by WHEN 'host' THEN f.host WHEN 'proxy' THEN f.proxy_id::text ELSE f.outcome END,
         CASE $metric WHEN 'bytes' THEN f.bytes_sent + f.bytes_received ELSE f.requests END, f.seconds
    FROM fetch_minute f
   WHERE $metric IN ('requests', 'blocks', 'unanswered', 'bytes') AND f.minute >= $from AND f.minute < $to
     AND $by <> 'store'
     AND ($metric <> 'blocks' OR f.outcome IN ('blocked', 'challenged'))
     AND ($metric <> 'unanswered' OR f.outcome IN ('proxy_down', 'proxy_outage', 'unreachable', 'timeout'))
  UNION ALL
  SELECT d.day::timestamp AT TIME ZONE 'UTC', CASE d.dispensary_id WHEN 0 THEN 'none' ELSE d.dispensary_id::text END,
         CASE $metric WHEN 'bytes' THEN d.bytes_sent + d.bytes_received ELSE d.requests END, 0
    FROM fetch_store_day d
   WHERE $metric IN ('requests', 'bytes') AND $by = 'store'
     AND d.day >= ($from AT TIME ZONE 'UTC')::date AND d.day < ($to AT TIME ZONE 'UTC')::date
), cells AS MATERIALIZED (
  SELECT key, date_bin(make_interval(secs => $seconds::float8), minute, $from) AS point, sum(number)::bigint AS number, sum(seconds) AS seconds
    FROM counted
   GROUP BY 1, 2
), ranked AS MATERIALIZED (
  SELECT key, row_number() OVER (ORDER BY sum(number) DESC, key) AS place FROM cells GROUP BY key HAVING sum(number) > 0
), shown AS (
  SELECT CASE WHEN r.place <= $series::bigint THEN c.key END AS key, least(r.place, $series + 1) AS place, c.point,
         sum(c.number)::bigint AS number, sum(c.seconds) AS seconds
    FROM cells c
    JOIN ranked r USING (key)
   GROUP BY 1, 2, 3
)
SELECT s.key,
       CASE WHEN $by = 'proxy' THEN (SELECT p.host || ':' || p.port FROM proxies p WHERE p.id = s.key::bigint)
            WHEN $by = 'store' AND s.key <> 'none' THEN (SELECT d.name FROM dispensaries d WHERE d.id = s.key::bigint) END AS name,
       CASE WHEN s.key IS NULL THEN (SELECT count(*) FROM ranked) - $series ELSE 1 END AS keys,
       array_agg(s.point ORDER BY s.point) AS points, array_agg(s.number ORDER BY s.point) AS numbers,
       array_agg(s.seconds ORDER BY s.point) AS seconds
  FROM shown s
 GROUP BY s.key, s.place
 ORDER BY s.place
