-- Makes tasks for many stores, by schedules and by request. A store that has an open task of the role, due in the same span, gets no second
-- one.

-- True if a schedule is for a store, by platform, state and group.
CREATE OR REPLACE FUNCTION is_for_store(s task_schedules, d dispensaries) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT (s.platform IS NULL OR d.platform = s.platform)
     AND (s.state_code IS NULL OR d.state = s.state_code)
     AND (s.group_name IS NULL OR s.group_name = ANY (d.groups))
$f$;

-- True if a group of the store has an enabled schedule of this role: a schedule for all stores leaves the store to that one.
CREATE OR REPLACE FUNCTION has_group_schedule(task_role text, d dispensaries) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT EXISTS (SELECT FROM task_schedules own
                  WHERE own.role = task_role AND own.enabled AND own.group_name IS NOT NULL AND is_for_store(own, d))
$f$;

-- The shortest interval of the schedules that crawl a store; null if none of them has an interval.
CREATE OR REPLACE FUNCTION crawl_interval_hours(d dispensaries) RETURNS double precision LANGUAGE sql STABLE AS $f$
  SELECT min(s.interval_hours)::double precision
    FROM task_schedules s
   WHERE s.enabled AND s.role IN ('payload_fetch', 'product_discovery') AND is_for_store(s, d)
     AND (s.group_name IS NOT NULL OR d.groups = '{}' OR NOT has_group_schedule(s.role, d))
$f$;


DROP FUNCTION IF EXISTS is_left_to_group(task_schedules, dispensaries);

DROP FUNCTION IF EXISTS has_open_task(text, bigint);
DROP FUNCTION IF EXISTS generate_tasks(text, boolean, text, text, jsonb, int, bigint);

-- One run of a schedule: makes a task for each crawlable store that it is for, or one task if the role has no stores. A store with an open
-- task that is due before the schedule's next run is skipped, and so is the one task if there is such a task for the same work. `skipped`
-- counts the stores by reason, as {"open_task": 3, "own_group": 2, "disabled": 1, "no_platform_id": 1}. While another session runs a
-- schedule for the same work: lock_not_available.
CREATE OR REPLACE FUNCTION run_schedule(schedule bigint, task_role text, per_store boolean, next_run timestamptz,
                                        OUT made int, OUT skipped jsonb)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  s task_schedules;
  args jsonb;
  specs jsonb;
BEGIN
  SELECT * INTO s FROM task_schedules t WHERE t.id = schedule;
  args := CASE WHEN per_store THEN s.args ELSE s.args || jsonb_strip_nulls(jsonb_build_object('state_code', s.state_code)) END;
  PERFORM require_generation_lock(task_role, CASE WHEN NOT per_store THEN concat_ws(' ', s.platform, s.account, args) END);
  skipped := '{}';
  IF per_store THEN
    WITH asked AS (
           SELECT d.id, d.platform,
                  CASE WHEN NOT d.crawl_enabled THEN 'disabled'
                       WHEN d.platform_dispensary_id IS NULL THEN 'no_platform_id'
                       -- most stores are in no group, and the call is expensive
                       WHEN s.group_name IS NULL AND d.groups <> '{}' AND has_group_schedule(s.role, d) THEN 'own_group'
                       WHEN open_twin(task_role, d.id, NULL, NULL, NULL, '-infinity', next_run) IS NOT NULL THEN 'open_task' END AS reason
             FROM dispensaries d
            WHERE is_for_store(s, d)),
         counted AS (
           SELECT a.reason, count(*) AS stores,
                  jsonb_agg(jsonb_build_object('role', task_role, 'dispensary_id', a.id, 'platform', a.platform, 'payload', args,
                                               'account', s.account, 'priority', s.priority, 'schedule_id', s.id) ORDER BY a.id)
                  FILTER (WHERE a.reason IS NULL) AS specs
             FROM asked a
            GROUP BY a.reason)
    SELECT coalesce(jsonb_object_agg(c.reason, c.stores) FILTER (WHERE c.reason IS NOT NULL), '{}'),
           (array_agg(c.specs) FILTER (WHERE c.reason IS NULL))[1]
      INTO skipped, specs
      FROM counted c;
  ELSIF open_twin(task_role, NULL, s.platform, s.account, args, '-infinity', next_run) IS NOT NULL THEN
    skipped := '{"open_task": 1}';
  ELSE
    specs := jsonb_build_array(jsonb_build_object('role', task_role, 'platform', s.platform, 'account', s.account, 'payload', args,
                                                  'priority', s.priority, 'schedule_id', s.id));
  END IF;
  made := coalesce(cardinality(enqueue_tasks(coalesce(specs, '[]'))), 0);
END $f$;

-- For programs of the previous release: a run that does not know the next one.
CREATE OR REPLACE FUNCTION generate_tasks(schedule bigint, task_role text, per_store boolean) RETURNS int LANGUAGE sql AS $f$
  SELECT r.made FROM run_schedule(schedule, task_role, per_store, NULL) r
$f$;

-- Makes payload_fetch tasks for a day, for the stores of a state (null: of every state): contiguous blocks of stores by id, evenly spaced
-- from midnight UTC (6 batches: 00, 04, … 20 h). Tasks whose times have passed are due at once. A store with an open task of that role that
-- is due on that day is skipped, and one whose group has its own schedule is left to that schedule. The tasks get their reservations from
-- the next sweep: taken here, they would block the sweep for as long as a session at psql does not commit. While another session generates
-- tasks of that role: lock_not_available.
CREATE OR REPLACE FUNCTION generate_resync(batches int, day date, in_state text,
                                           OUT made int, OUT first_slot timestamptz, OUT last_slot timestamptz, OUT skipped int)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  specs jsonb;
  midnight timestamptz := day::timestamp AT TIME ZONE 'UTC';
BEGIN
  IF batches IS NULL OR batches NOT BETWEEN 1 AND 24 THEN RAISE 'batches per day must be from 1 to 24, not %', batches; END IF;
  IF day IS NULL OR day NOT BETWEEN '1970-01-01' AND (now() AT TIME ZONE 'UTC')::date + 366 THEN
    RAISE datetime_field_overflow USING MESSAGE = format('the day %s is out of range: at most 366 days ahead', coalesce(day::text, 'null'));
  END IF;
  PERFORM require_generation_lock('payload_fetch', NULL);
  WITH numbered AS (
         SELECT d.id, d.platform, row_number() OVER (ORDER BY d.id) - 1 AS n, count(*) OVER () AS stores
           FROM dispensaries d
          WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
            AND (in_state IS NULL OR d.state = in_state)
            AND (d.groups = '{}' OR NOT has_group_schedule('payload_fetch', d))),
       timed AS (
         -- a task that is due on a day that has passed is due now
         SELECT n.id, n.platform,
                open_twin('payload_fetch', n.id, NULL, NULL, NULL, midnight,
                          greatest(midnight + interval '24 hours', now() + interval '1 microsecond')) IS NOT NULL AS is_open,
                midnight + (n.n * batches / n.stores) * (interval '24 hours' / batches) AS run_at
           FROM numbered n)
  SELECT jsonb_agg(jsonb_build_object('role', 'payload_fetch', 'dispensary_id', t.id, 'platform', t.platform,
                                      'scheduled_for', CASE WHEN t.run_at > now() THEN t.run_at END) ORDER BY t.id)
           FILTER (WHERE NOT t.is_open),
         min(t.run_at) FILTER (WHERE NOT t.is_open), max(t.run_at) FILTER (WHERE NOT t.is_open), count(*) FILTER (WHERE t.is_open)
    INTO specs, first_slot, last_slot, skipped
    FROM timed t;
  made := coalesce(cardinality(enqueue_tasks(coalesce(specs, '[]'), reserve => false)), 0);
END $f$;

-- Makes a task of a role for each crawlable store of a state. A store with an open task that does the same gets no other: a less urgent one
-- that waits is raised, others are skipped. While another session generates tasks of that role: lock_not_available.
CREATE OR REPLACE FUNCTION generate_for_state(in_state text, task_role text, task_priority int, OUT made int, OUT skipped int, OUT raised int)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  specs jsonb;
  twins bigint[];
BEGIN
  PERFORM require_generation_lock(task_role, NULL);
  SELECT jsonb_agg(jsonb_build_object('role', task_role, 'dispensary_id', a.id, 'platform', a.platform, 'priority', task_priority)
                   ORDER BY a.id) FILTER (WHERE a.twin IS NULL),
         array_agg(a.twin ORDER BY a.twin) FILTER (WHERE a.twin IS NOT NULL)
    INTO specs, twins
    FROM (SELECT d.id, d.platform, open_twin(task_role, d.id, NULL, NULL, '{}') AS twin
            FROM dispensaries d
           WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL AND (in_state IS NULL OR d.state = in_state)) a;
  made := coalesce(cardinality(enqueue_tasks(coalesce(specs, '[]'))), 0);
  SELECT count(*) FILTER (WHERE raise_task(t.twin, task_priority, NULL)) INTO raised FROM unnest(twins) AS t(twin);
  skipped := coalesce(cardinality(twins), 0) - raised;
END $f$;

DROP FUNCTION IF EXISTS open_task(text, bigint);
