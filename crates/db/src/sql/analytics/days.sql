-- analytics/days.sql: days that may have changed since they were written, oldest first. $1 maximum age in
-- days
SELECT day::date AS day
  FROM generate_series(
         greatest((SELECT max(day) - 1 FROM price_days),
                  (now() AT TIME ZONE 'UTC')::date - $1::int + 1,
                  (SELECT (min(fetched_at) AT TIME ZONE 'UTC')::date FROM raw_crawl_payloads))::timestamp,
         (now() AT TIME ZONE 'UTC')::date::timestamp, interval '1 day') AS day
 WHERE EXISTS (SELECT FROM raw_crawl_payloads)
 ORDER BY 1;
