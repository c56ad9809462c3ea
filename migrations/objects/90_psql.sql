-- For people at psql: established names over the functions that the program calls.

DROP FUNCTION IF EXISTS claim_task(text, text);
CREATE FUNCTION claim_task(task_role text, worker text) RETURNS SETOF worker_tasks LANGUAGE plpgsql AS $f$
DECLARE claimed bigint[];
BEGIN
  claimed := ARRAY (
    SELECT c.id
      FROM settle_and_claim('{}', '{}', '{}', '{}', '{}',
             CASE WHEN task_role IS NULL THEN crawl_roles()
                  WHEN task_role = 'product_resync' THEN ARRAY['payload_fetch', 'product_discovery', 'product_refresh']
                  ELSE ARRAY[task_role] END,
             task_role IS NULL, ARRAY[worker], interval '10 minutes', true, NULL) c);
  RETURN QUERY SELECT * FROM worker_tasks t WHERE t.id = ANY (claimed);
END $f$;

-- Puts back tasks without a heartbeat for that many minutes, or past their lease; returns how many. Too few minutes cost runs and no
-- data: a run that was put back while it went on can write nothing any more.
CREATE OR REPLACE FUNCTION recover_stale_tasks(minutes int) RETURNS int LANGUAGE sql AS $f$
  SELECT r.requeued + r.failed FROM recover_tasks(make_interval(mins => minutes)) r
$f$;

-- payload_fetch tasks for a day: contiguous blocks of stores by id, evenly spaced from midnight UTC (6 batches: 00, 04, … 20 h).
-- Times already past are due at once; a store with an open task of that role gets none, nor one whose group has a schedule of its own:
-- a task planned for the evening would keep that schedule from making any until then. The tasks get their reservations from the
-- next sweep: taken here, they would block it for as long as the session does not commit.
CREATE OR REPLACE FUNCTION generate_resync_tasks(batches int, day date) RETURNS int LANGUAGE plpgsql AS $f$
DECLARE specs jsonb;
BEGIN
  IF batches NOT BETWEEN 1 AND 24 THEN RAISE 'batches per day must be from 1 to 24, not %', batches; END IF;
  PERFORM lock_generation('payload_fetch');
  WITH numbered AS (
         SELECT d.id, d.platform, row_number() OVER (ORDER BY d.id) - 1 AS n, count(*) OVER () AS stores
           FROM dispensaries d
          WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
            AND (d.groups = '{}' OR NOT has_group_schedule('payload_fetch', d))),
       timed AS (
         SELECT n.id, n.platform,
                day::timestamp AT TIME ZONE 'UTC' + (n.n * batches / n.stores) * (interval '24 hours' / batches) AS run_at
           FROM numbered n)
  SELECT jsonb_agg(jsonb_build_object('role', 'payload_fetch', 'dispensary_id', t.id, 'platform', t.platform,
                                      'scheduled_for', CASE WHEN t.run_at > now() THEN t.run_at END) ORDER BY t.id)
    INTO specs
    FROM timed t
   WHERE open_task('payload_fetch', t.id) IS NULL;
  IF specs IS NULL THEN RETURN 0; END IF;
  RETURN cardinality(enqueue_tasks(specs, reserve => false));
END $f$;

-- What the periodic sweeps do, now and in one transaction: rows written by hand become ready. Returns how many tasks it touched.
CREATE OR REPLACE FUNCTION sweep_all() RETURNS bigint LANGUAGE sql AS $f$
  SELECT sweep_stopping(1000000, false) + sweep_blocked(1000000, false) + sweep_storeless(1000000, false) + (SELECT s.swept FROM sweep_stores(NULL, 1000000, false) s)
$f$;
