-- demo/history/runs.sql: simulated counts of ended runs for the 7 days until this minute: by ten
-- minutes, the last three hours by minute. $1 seed, $2 fetches in a minute
WITH slots AS (
  SELECT s.minute, s.minutes FROM (SELECT date_bin('1 minute', now(), timestamptz '2000-01-01 00:00:00Z') AS until) n
   CROSS JOIN LATERAL (
     SELECT generate_series(n.until - interval '7 days', n.until - interval '190 minutes', interval '10 minutes') AS minute, 10 AS minutes
      UNION ALL
     SELECT generate_series(n.until - interval '180 minutes', n.until - interval '1 minute', interval '1 minute'), 1) s
), drawn AS (
  SELECT s.*, (hashint8extended(extract(epoch FROM s.minute)::bigint, $1::bigint) & 1023) / 1023.0 AS chance,
         -- quieter at night, and one bad hour on two of the days
         0.8 + 0.2 * sin(extract(epoch FROM s.minute) / 86400 * 2 * pi()) AS load,
         CASE WHEN extract(epoch FROM now() - s.minute) / 3600 BETWEEN 40 AND 41 OR extract(epoch FROM now() - s.minute) / 3600 BETWEEN 113 AND 114
              THEN 12 ELSE 1 END AS trouble
    FROM slots s
), counted AS (
  SELECT d.minute, k.role, k.outcome,
         round(d.minutes * $2::float8 * d.load * k.share * (0.85 + 0.3 * d.chance) * CASE k.outcome WHEN 'completed' THEN 1 ELSE d.trouble END)::bigint
           AS tasks,
         k.seconds * (0.7 + 0.6 * d.chance) AS seconds, k.products
    FROM drawn d
   CROSS JOIN (VALUES ('payload_fetch', 'completed', 1.0, 1.4, 0), ('payload_fetch', 'failed', 0.02, 2.6, 0),
                      ('payload_fetch', 'snoozed', 0.01, 0.4, 0), ('product_refresh', 'completed', 1.0, 0.2, 240),
                      ('analytics_refresh', 'completed', 0.016, 0.9, 0)) AS k(role, outcome, share, seconds, products)
)
INSERT INTO stats_minute (minute, role, outcome, tasks, waits, wait_seconds, runs, run_seconds, products, run_buckets, wait_buckets)
SELECT c.minute, c.role, c.outcome, c.tasks, c.tasks, c.tasks * c.seconds / 3, c.tasks, c.tasks * c.seconds, c.tasks * c.products,
       spread.run_buckets, spread.wait_buckets
  FROM counted c
 CROSS JOIN LATERAL (   -- most runs a little faster than the mean, few much slower
       SELECT jsonb_object_agg(duration_bucket(c.seconds * s.factor), ceil(c.tasks * s.share)) AS run_buckets,
              jsonb_object_agg(duration_bucket(c.seconds / 3 * s.factor), ceil(c.tasks * s.share)) AS wait_buckets
         FROM (VALUES (0.85, 0.7), (1.3, 0.26), (2.6, 0.04)) AS s(factor, share)) spread
 WHERE c.tasks > 0
    ON CONFLICT DO NOTHING
