-- demo/history/failures.sql: simulated tasks that failed in the last day, about one an hour, with
-- their runs; the worker marks them. $1 seed
WITH stores AS (
  SELECT d.id, d.platform, row_number() OVER (ORDER BY d.id) AS place, count(*) OVER () AS stores
    FROM dispensaries d WHERE d.platform_dispensary_id IS NOT NULL
), failed AS (
  INSERT INTO worker_tasks (role, dispensary_id, platform, status, worker_id, fence, claimed_at, started_at, completed_at, detail, result,
                            error_message, retry_count, created_at, updated_at)
  SELECT 'payload_fetch', s.id, s.platform, 'failed', 'simulated', 4, t.ended - interval '3 seconds', t.ended - interval '3 seconds',
         t.ended, '{"requests": 4, "blocks": 0}', '{"simulated": true}',
         (ARRAY['the crawl holds 212 of 318 products, a share below 0.995', 'FilteredProducts was answered with errors: Something went wrong',
                'the menu came back empty'])[1 + h.hour % 3] || ' (simulated)',
         3, t.ended - interval '2 minutes', t.ended
    FROM generate_series(1, 22) AS h(hour)
   CROSS JOIN LATERAL (SELECT (hashint8extended(h.hour, $1::bigint) & 1023) AS draw) r
   CROSS JOIN LATERAL (SELECT now() - make_interval(hours => h.hour, mins => (r.draw % 50)::int) AS ended) t
    JOIN stores s ON s.place = 1 + r.draw % s.stores
  RETURNING id, completed_at, error_message
)
INSERT INTO past_attempts (task_id, fence, worker_id, outcome, claimed_at, finished_at, error, detail)
SELECT f.id, a.fence, 'simulated', 'failed', f.completed_at - (4 - a.fence) * interval '30 seconds' - interval '3 seconds',
       f.completed_at - (4 - a.fence) * interval '30 seconds', f.error_message, '{"requests": 4, "blocks": 0}'
  FROM failed f
 CROSS JOIN generate_series(1, 3) AS a(fence)
