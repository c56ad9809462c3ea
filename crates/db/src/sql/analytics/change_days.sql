-- analytics/change_days.sql: days whose changes of prices may not be written yet, oldest first. $1 maximum age in days
SELECT day::date AS day
  FROM generate_series(
         greatest((SELECT max(day) FROM daily_price_changes) - 1,
                  (now() AT TIME ZONE 'UTC')::date - $1::int + 1,
                  (SELECT (min(crawled_at) AT TIME ZONE 'UTC')::date FROM change_batches WHERE seq IS NOT NULL))::timestamp,
         (now() AT TIME ZONE 'UTC')::date::timestamp, interval '1 day') AS day
 WHERE EXISTS (SELECT FROM change_batches WHERE seq IS NOT NULL)
 ORDER BY 1;
