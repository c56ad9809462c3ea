-- charts/durations.sql: distributions of the durations of the metric $4 (runs or waits) by the dimension $5 (role or outcome), from $1
-- until before $2, in points of $3 seconds: a row for each series and point with its buckets.
WITH counted AS (
  SELECT CASE $5::text WHEN 'role' THEN s.role ELSE s.outcome END AS key,
         date_bin(make_interval(secs => $3::float8), s.minute, $1::timestamptz) AS point,
         b.key::int AS bucket, b.value::bigint AS number
    FROM stats_minute s
   CROSS JOIN LATERAL jsonb_each_text(CASE $4::text WHEN 'waits' THEN s.wait_buckets ELSE s.run_buckets END) b
   WHERE s.minute >= $1 AND s.minute < $2::timestamptz
), summed AS (
  SELECT key, point, bucket, sum(number)::bigint AS number FROM counted GROUP BY 1, 2, 3
)
SELECT key, point, array_agg(bucket ORDER BY bucket) AS buckets, array_agg(number ORDER BY bucket) AS numbers
  FROM summed
 GROUP BY key, point
 ORDER BY key, point
