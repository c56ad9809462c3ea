-- charts/series.sql: counts by minute, from $1 until before $2, as series of points of $3 seconds, of the
-- metric $4, by the dimension $5. Returns the $6 largest series, and the sum of the others without a key.
-- Planned for its values: it reads only one of the three tables. By store, whole days (UTC) are counted: the
-- points must be whole days.
WITH counted AS (
  SELECT s.minute, CASE $5::text WHEN 'role' THEN s.role ELSE s.outcome END AS key,
         CASE $4::text WHEN 'waits' THEN s.waits WHEN 'runs' THEN s.runs WHEN 'products' THEN s.products ELSE s.tasks END AS number,
         CASE $4 WHEN 'waits' THEN s.wait_seconds WHEN 'runs' THEN s.run_seconds ELSE 0 END AS seconds
    FROM stats_minute s
   WHERE $4 IN ('tasks', 'waits', 'runs', 'products') AND s.minute >= $1::timestamptz AND s.minute < $2::timestamptz
  UNION ALL
  SELECT f.minute, CASE $5 WHEN 'host' THEN f.host WHEN 'proxy' THEN f.proxy_id::text ELSE f.outcome END,
         CASE $4 WHEN 'bytes' THEN f.bytes_sent + f.bytes_received ELSE f.requests END, f.seconds
    FROM fetch_minute f
   WHERE $4 IN ('requests', 'blocks', 'unanswered', 'bytes') AND f.minute >= $1 AND f.minute < $2
     AND $5 <> 'store'
     AND ($4 <> 'blocks' OR f.outcome IN ('blocked', 'challenged'))
     AND ($4 <> 'unanswered' OR f.outcome IN ('proxy_down', 'proxy_outage', 'unreachable', 'timeout'))
  UNION ALL
  SELECT d.day::timestamp AT TIME ZONE 'UTC', CASE d.dispensary_id WHEN 0 THEN 'none' ELSE d.dispensary_id::text END,
         CASE $4 WHEN 'bytes' THEN d.bytes_sent + d.bytes_received ELSE d.requests END, 0
    FROM fetch_store_day d
   WHERE $4 IN ('requests', 'bytes') AND $5 = 'store'
     AND d.day >= ($1 AT TIME ZONE 'UTC')::date AND d.day < ($2 AT TIME ZONE 'UTC')::date
), cells AS MATERIALIZED (
  SELECT key, date_bin(make_interval(secs => $3::float8), minute, $1) AS point, sum(number)::bigint AS number, sum(seconds) AS seconds
    FROM counted
   GROUP BY 1, 2
), ranked AS MATERIALIZED (
  SELECT key, row_number() OVER (ORDER BY sum(number) DESC, key) AS place FROM cells GROUP BY key HAVING sum(number) > 0
), shown AS (
  SELECT CASE WHEN r.place <= $6::bigint THEN c.key END AS key, least(r.place, $6 + 1) AS place, c.point,
         sum(c.number)::bigint AS number, sum(c.seconds) AS seconds
    FROM cells c
    JOIN ranked r USING (key)
   GROUP BY 1, 2, 3
)
SELECT s.key,
       CASE WHEN $5 = 'proxy' THEN (SELECT p.host || ':' || p.port FROM proxies p WHERE p.id = s.key::bigint)
            WHEN $5 = 'store' AND s.key <> 'none' THEN (SELECT d.name FROM dispensaries d WHERE d.id = s.key::bigint) END AS name,
       CASE WHEN s.key IS NULL THEN (SELECT count(*) FROM ranked) - $6 ELSE 1 END AS keys,
       array_agg(s.point ORDER BY s.point) AS points, array_agg(s.number ORDER BY s.point) AS numbers,
       array_agg(s.seconds ORDER BY s.point) AS seconds
  FROM shown s
 GROUP BY s.key, s.place
 ORDER BY s.place
