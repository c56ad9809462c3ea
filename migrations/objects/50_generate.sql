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
