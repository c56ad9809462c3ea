-- For people at psql: established names over the functions that the program calls.

DROP FUNCTION IF EXISTS claim_task(text, text);
CREATE FUNCTION claim_task(task_role text, worker text) RETURNS SETOF worker_tasks LANGUAGE plpgsql AS $f$
DECLARE claimed bigint[];
BEGIN
  SELECT array_agg(c.id) INTO claimed FROM settle_and_claim('{}', '{}', '{}', '{}', '{}',
    CASE WHEN task_role IS NULL THEN ARRAY['store_discovery', 'entry_point_discovery', 'product_discovery', 'payload_fetch', 'product_refresh', 'analytics_refresh']
         WHEN task_role = 'product_resync' THEN ARRAY['payload_fetch', 'product_discovery', 'product_refresh']
         ELSE ARRAY[task_role] END,
    ARRAY[worker], interval '10 minutes', true) c;
  RETURN QUERY SELECT * FROM worker_tasks t WHERE t.id = ANY (claimed);
END $f$;

-- Tasks without a heartbeat for that many minutes, or past their lease. Fences make a too small number harmless.
CREATE OR REPLACE FUNCTION recover_stale_tasks(minutes int) RETURNS int LANGUAGE sql AS $f$
  SELECT r.requeued + r.failed FROM recover_tasks(make_interval(mins => minutes)) r
$f$;

-- payload_fetch tasks for a day: contiguous blocks of stores by id, evenly spaced from midnight UTC (6 batches: 00, 04, … 20 h).
-- Slots already past are due at once; a store with an open task of that role gets none.
CREATE OR REPLACE FUNCTION generate_resync_tasks(batches int, day date) RETURNS int LANGUAGE plpgsql AS $f$
DECLARE specs jsonb;
BEGIN
  IF batches NOT BETWEEN 1 AND 24 THEN RAISE 'batches per day must be from 1 to 24, not %', batches; END IF;
  PERFORM lock_generation();
  WITH numbered AS (
    SELECT d.id, d.platform, row_number() OVER (ORDER BY d.id) - 1 AS n, count(*) OVER () AS stores
      FROM dispensaries d WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL),
       slotted AS (
    SELECT n.id, n.platform, day::timestamp AT TIME ZONE 'UTC' + (n.n * batches / n.stores) * (interval '24 hours' / batches) AS slot FROM numbered n)
  SELECT jsonb_agg(jsonb_build_object('role', 'payload_fetch', 'dispensary_id', s.id, 'platform', s.platform,
                                      'scheduled_for', CASE WHEN s.slot > now() THEN s.slot END) ORDER BY s.id)
    INTO specs FROM slotted s WHERE NOT has_open_task('payload_fetch', s.id);
  IF specs IS NULL THEN RETURN 0; END IF;
  RETURN cardinality(enqueue_tasks(specs));
END $f$;

DROP VIEW IF EXISTS v_worker_capacity;
CREATE VIEW v_worker_capacity AS
WITH live AS (
       SELECT role, count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'pending' AND ready) AS ready,
              count(*) FILTER (WHERE status = 'claimed') AS claimed, count(*) FILTER (WHERE status = 'running') AS running
         FROM (SELECT role, status, ready FROM worker_tasks WHERE status = 'pending'   -- each kind by the index that holds just it
               UNION ALL
               SELECT role, status, ready FROM worker_tasks WHERE status IN ('claimed', 'running')) open GROUP BY role),
     ended AS (
       SELECT role, count(*) FILTER (WHERE status = 'completed' AND completed_at > now() - interval '60 minutes') AS completed,
              count(*) FILTER (WHERE status = 'failed' AND completed_at > now() - interval '60 minutes') AS failed,
              avg(extract(epoch FROM completed_at - started_at)) FILTER (WHERE status = 'completed') AS seconds
         FROM worker_tasks WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '24 hours' GROUP BY role),
     beating AS (   -- whose task has just ended is active too; nobody's heartbeat is younger than their task's end
       SELECT role, count(DISTINCT worker_id) AS workers FROM (
         SELECT role, worker_id, last_heartbeat_at FROM worker_tasks WHERE status IN ('claimed', 'running')
         UNION ALL
         SELECT role, worker_id, last_heartbeat_at FROM worker_tasks
          WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at > now() - interval '5 minutes') run
        WHERE last_heartbeat_at > now() - interval '5 minutes' GROUP BY role),
     roles AS (SELECT role FROM live UNION SELECT role FROM ended)
SELECT r.role, coalesce(l.pending, 0) AS pending_tasks, coalesce(l.ready, 0) AS ready_tasks, coalesce(l.claimed, 0) AS claimed_tasks,
       coalesce(l.running, 0) AS running_tasks, coalesce(e.completed, 0) AS completed_last_hour, coalesce(e.failed, 0) AS failed_last_hour,
       coalesce(b.workers, 0) AS active_workers, e.seconds::double precision AS avg_duration_sec,
       (3600 / nullif(e.seconds, 0))::double precision AS tasks_per_worker_hour,
       coalesce(l.pending, 0) * e.seconds::double precision / 3600 / b.workers AS estimated_hours_to_drain   -- null: nobody is at it
  FROM roles r LEFT JOIN live l USING (role) LEFT JOIN ended e USING (role) LEFT JOIN beating b USING (role);
