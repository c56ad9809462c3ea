-- counts/charts/durations.sql: distributions of the durations of $metric (runs or waits) by the dimension $by (role or outcome), until
-- before $to, in points of $seconds: a row for each series and point with its buckets.
WITH counted AS (
  SELECT CASE $by::text WHEN 'role' THEN s.role ELSE s.outcome END AS key,
         date_bin(make_interval(secs => $seconds::float8), s.minute, $from::timestamptz) AS point,
         b.key::int AS bucket, b.value::bigint AS number
    FROM stats_minute s
   CROSS JOIN LATERAL jsonb_each_text(CASE $metric::text WHEN 'waits' THEN s.wait_buckets ELSE s.run_buckets END) b
   WHERE s.minute >= $from AND s.minute < $to::timestamptz
), summed AS (
  SELECT key, point, bucket, sum(number)::bigint AS number FROM counted GROUP BY 1, 2, 3
)
SELECT key, point, array_agg(bucket ORDER BY bucket) AS buckets, array_agg(number ORDER BY bucket) AS numbers
  FROM summed
 GROUP BY key, point
 ORDER BY key, point
