-- Making tasks from schedules. A store, or a role without stores, that still has an open task of that role gets no second one.

-- One open task of that role and store (null: of no store), or null. Each kind of open task by the partial index that holds just
-- it; an index of them all would cost every claim.
CREATE OR REPLACE FUNCTION open_task(task_role text, store bigint) RETURNS bigint LANGUAGE sql STABLE AS $f$
  SELECT CASE WHEN store IS NULL THEN coalesce(
      (SELECT t.id FROM worker_tasks t
        WHERE t.status = 'pending' AND t.ready AND t.role = task_role AND t.dispensary_id IS NULL LIMIT 1),
      (SELECT t.id FROM worker_tasks t
        WHERE t.status IN ('claimed', 'running') AND t.role = task_role AND t.dispensary_id IS NULL LIMIT 1),
      (SELECT w.id FROM waiting_tasks w WHERE w.dispensary_id IS NULL AND w.role = task_role LIMIT 1),
      (SELECT t.id FROM worker_tasks t
        WHERE t.status = 'pending' AND t.blocked AND t.dispensary_id IS NULL AND t.role = task_role LIMIT 1))
    ELSE coalesce(
      (SELECT r.id FROM reservations r WHERE r.dispensary_id = store AND r.role = task_role LIMIT 1),
      (SELECT w.id FROM waiting_tasks w WHERE w.dispensary_id = store AND w.role = task_role LIMIT 1),
      (SELECT t.id FROM worker_tasks t
        WHERE t.status = 'pending' AND t.blocked AND t.dispensary_id = store AND t.role = task_role LIMIT 1))
    END
$f$;

-- Whether a schedule is for a store, as far as platform, state and group say.
CREATE OR REPLACE FUNCTION is_for_store(s task_schedules, d dispensaries) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT (s.platform IS NULL OR d.platform = s.platform)
     AND (s.state_code IS NULL OR d.state = s.state_code)
     AND (s.group_name IS NULL OR s.group_name = ANY (d.groups))
$f$;

-- Whether a group that the store is in has a schedule of this role, switched on: what is for all stores leaves it to that one.
CREATE OR REPLACE FUNCTION has_group_schedule(task_role text, d dispensaries) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT EXISTS (SELECT FROM task_schedules own
                  WHERE own.role = task_role AND own.enabled AND own.group_name IS NOT NULL AND is_for_store(own, d))
$f$;

DROP FUNCTION IF EXISTS is_left_to_group(task_schedules, dispensaries);

DROP FUNCTION IF EXISTS has_open_task(text, bigint);
DROP FUNCTION IF EXISTS generate_tasks(text, boolean, text, text, jsonb, int, bigint);

-- One generation of a schedule: a task for each crawlable store that it is for, or one task where the role has no stores; returns how many. While
-- another session generates tasks of that role: lock_not_available.
CREATE OR REPLACE FUNCTION generate_tasks(schedule bigint, task_role text, per_store boolean) RETURNS int LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  s task_schedules;
  specs jsonb;
BEGIN
  IF NOT try_lock_generation(task_role) THEN
    RAISE lock_not_available USING MESSAGE = format('another generation of %s tasks is under way', task_role);
  END IF;
  SELECT * INTO s FROM task_schedules t WHERE t.id = schedule;
  IF per_store THEN
    SELECT jsonb_agg(jsonb_build_object('role', task_role, 'dispensary_id', d.id, 'platform', d.platform, 'payload', s.args,
                                        'priority', s.priority, 'schedule_id', s.id) ORDER BY d.id)
      INTO specs
      FROM dispensaries d
     WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
       AND is_for_store(s, d)
       -- most stores are in no group, and a call costs
       AND (s.group_name IS NOT NULL OR d.groups = '{}' OR NOT has_group_schedule(s.role, d))
       AND open_task(task_role, d.id) IS NULL;
  ELSIF open_task(task_role, NULL) IS NULL THEN
    specs := jsonb_build_array(jsonb_build_object(
      'role', task_role, 'platform', s.platform, 'priority', s.priority, 'schedule_id', s.id,
      'payload', s.args || jsonb_strip_nulls(jsonb_build_object('state_code', s.state_code))));
  END IF;
  IF specs IS NULL THEN RETURN 0; END IF;
  RETURN cardinality(enqueue_tasks(specs));
END $f$;

-- payload_fetch tasks for a day: contiguous blocks of stores (null: of every state) by id, evenly spaced from midnight UTC (6 batches: 00,
-- 04, … 20 h). Times already past are due at once; a store with an open task of that role is skipped, and one whose group has a schedule of
-- its own is left to that: a task planned for the evening would keep it from making any until then. The tasks get their reservations from
-- the next sweep: taken here, they would block it for as long as a session at psql does not commit. While another session generates tasks
-- of that role: lock_not_available.
CREATE OR REPLACE FUNCTION generate_resync(batches int, day date, in_state text,
                                           OUT made int, OUT first_slot timestamptz, OUT last_slot timestamptz, OUT skipped int)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE specs jsonb;
BEGIN
  IF batches NOT BETWEEN 1 AND 24 THEN RAISE 'batches per day must be from 1 to 24, not %', batches; END IF;
  IF NOT try_lock_generation('payload_fetch') THEN
    RAISE lock_not_available USING MESSAGE = 'another generation of payload_fetch tasks is under way';
  END IF;
  WITH numbered AS (
         SELECT d.id, d.platform, row_number() OVER (ORDER BY d.id) - 1 AS n, count(*) OVER () AS stores
           FROM dispensaries d
          WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
            AND (in_state IS NULL OR d.state = in_state)
            AND (d.groups = '{}' OR NOT has_group_schedule('payload_fetch', d))),
       timed AS (
         SELECT n.id, n.platform, open_task('payload_fetch', n.id) IS NOT NULL AS is_open,
                day::timestamp AT TIME ZONE 'UTC' + (n.n * batches / n.stores) * (interval '24 hours' / batches) AS run_at
           FROM numbered n)
  SELECT jsonb_agg(jsonb_build_object('role', 'payload_fetch', 'dispensary_id', t.id, 'platform', t.platform,
                                      'scheduled_for', CASE WHEN t.run_at > now() THEN t.run_at END) ORDER BY t.id)
           FILTER (WHERE NOT t.is_open),
         min(t.run_at) FILTER (WHERE NOT t.is_open), max(t.run_at) FILTER (WHERE NOT t.is_open), count(*) FILTER (WHERE t.is_open)
    INTO specs, first_slot, last_slot, skipped
    FROM timed t;
  made := coalesce(cardinality(enqueue_tasks(coalesce(specs, '[]'), reserve => false)), 0);
END $f$;

-- A task of a role for each crawlable store of a state; a store with an open task that does the same is skipped. While another session
-- generates tasks of that role: lock_not_available.
CREATE OR REPLACE FUNCTION generate_for_state(in_state text, task_role text, task_priority int, OUT made int, OUT skipped int)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE specs jsonb;
BEGIN
  IF NOT try_lock_generation(task_role) THEN
    RAISE lock_not_available USING MESSAGE = format('another generation of %s tasks is under way', task_role);
  END IF;
  WITH asked AS (
    SELECT d.id, d.platform, open_twin(task_role, d.id, NULL, NULL, '{}') IS NOT NULL AS is_open
      FROM dispensaries d
     WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL AND (in_state IS NULL OR d.state = in_state))
  SELECT jsonb_agg(jsonb_build_object('role', task_role, 'dispensary_id', a.id, 'platform', a.platform, 'priority', task_priority)
                   ORDER BY a.id) FILTER (WHERE NOT a.is_open),
         count(*) FILTER (WHERE a.is_open)
    INTO specs, skipped
    FROM asked a;
  made := coalesce(cardinality(enqueue_tasks(coalesce(specs, '[]'))), 0);
END $f$;
