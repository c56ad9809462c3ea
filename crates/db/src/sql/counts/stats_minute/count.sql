-- counts/stats_minute/count.sql: counts the runs that ended from $1 until before $2. The latest run of a task is in
-- its own row, earlier ones are in past_attempts. Times written by hand may be infinite, which cannot be
-- subtracted, and numbers in a result may be anything.
WITH ended AS (
  SELECT t.completed_at AS ended_at, t.role,
         CASE WHEN t.status = 'failed' AND t.crash_count >= 3 THEN 'lost' ELSE t.status END AS outcome,
         t.claimed_at,
         CASE WHEN t.fence = 1 THEN greatest(t.created_at, t.scheduled_for) END AS due_at,
         CASE WHEN t.role = 'product_refresh' AND t.status = 'completed' AND jsonb_typeof(t.result->'products') = 'number'
              THEN least(greatest((t.result->>'products')::numeric, 0), 1e9) END AS products
    FROM worker_tasks t
   WHERE t.status IN ('completed', 'failed', 'cancelled') AND t.completed_at >= $1 AND t.completed_at < $2
  UNION ALL
  SELECT a.finished_at, t.role, coalesce(a.outcome, 'lost'), a.claimed_at, NULL, NULL
    FROM past_attempts a
    JOIN worker_tasks t ON t.id = a.task_id
   WHERE a.finished_at >= $1 AND a.finished_at < $2
), timed AS MATERIALIZED (
  SELECT date_bin('1 minute', e.ended_at, timestamptz '2000-01-01 00:00:00Z') AS minute, e.role, e.outcome, e.products,
         CASE WHEN isfinite(e.claimed_at) AND isfinite(e.due_at)
              THEN greatest(extract(epoch FROM e.claimed_at) - extract(epoch FROM e.due_at), 0) END AS waited,
         CASE WHEN isfinite(e.claimed_at)
              THEN greatest(extract(epoch FROM e.ended_at) - extract(epoch FROM e.claimed_at), 0) END AS took
    FROM ended e
), run_buckets AS (
  SELECT minute, role, outcome, jsonb_object_agg(bucket, number) AS buckets
    FROM (SELECT minute, role, outcome, duration_bucket(took) AS bucket, count(*) AS number
            FROM timed WHERE took IS NOT NULL GROUP BY 1, 2, 3, 4) counted
   GROUP BY 1, 2, 3
), wait_buckets AS (
  SELECT minute, role, outcome, jsonb_object_agg(bucket, number) AS buckets
    FROM (SELECT minute, role, outcome, duration_bucket(waited) AS bucket, count(*) AS number
            FROM timed WHERE waited IS NOT NULL GROUP BY 1, 2, 3, 4) counted
   GROUP BY 1, 2, 3
), totals AS (
  SELECT minute, role, outcome, count(*) AS tasks, count(waited) AS waits, coalesce(sum(waited), 0) AS wait_seconds,
         count(took) AS runs, coalesce(sum(took), 0) AS run_seconds, coalesce(sum(products), 0) AS products
    FROM timed
   GROUP BY 1, 2, 3
)
INSERT INTO stats_minute (minute, role, outcome, tasks, waits, wait_seconds, runs, run_seconds, products, run_buckets, wait_buckets)
SELECT t.minute, t.role, t.outcome, t.tasks, t.waits, t.wait_seconds, t.runs, t.run_seconds, t.products,
       coalesce(r.buckets, '{}'), coalesce(w.buckets, '{}')
  FROM totals t
  LEFT JOIN run_buckets r USING (minute, role, outcome)
  LEFT JOIN wait_buckets w USING (minute, role, outcome);
