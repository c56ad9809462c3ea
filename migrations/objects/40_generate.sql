-- Making tasks from schedules. A store, or a role without stores, that still has an open task of that role gets no second one.

-- Each kind of open task by the partial index that holds just it; an index of them all would cost every claim.
CREATE OR REPLACE FUNCTION has_open_task(task_role text, store bigint) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT CASE WHEN store IS NULL THEN
      EXISTS (SELECT 1 FROM worker_tasks WHERE status = 'pending' AND ready AND role = task_role AND dispensary_id IS NULL)
      OR EXISTS (SELECT 1 FROM worker_tasks WHERE status IN ('claimed', 'running') AND role = task_role AND dispensary_id IS NULL)
      OR EXISTS (SELECT 1 FROM worker_tasks WHERE status = 'pending' AND NOT ready AND NOT blocked AND dispensary_id IS NULL AND role = task_role)
      OR EXISTS (SELECT 1 FROM worker_tasks WHERE status = 'pending' AND blocked AND dispensary_id IS NULL AND role = task_role)
    ELSE
      EXISTS (SELECT 1 FROM worker_tasks WHERE (status = 'pending' AND ready OR status IN ('claimed', 'running')) AND dispensary_id = store AND role = task_role)
      OR EXISTS (SELECT 1 FROM worker_tasks WHERE status = 'pending' AND NOT ready AND NOT blocked AND dispensary_id = store AND role = task_role)
      OR EXISTS (SELECT 1 FROM worker_tasks WHERE status = 'pending' AND blocked AND dispensary_id = store AND role = task_role)
    END
$f$;

-- One generation at a time, whoever asks: who looks for open tasks must see those that another is making. Until the end of the transaction.
CREATE OR REPLACE FUNCTION lock_generation() RETURNS void LANGUAGE sql AS $f$ SELECT pg_advisory_xact_lock(7343) $f$;

-- One generation of a schedule: a task for each crawlable store, or one task where the role knows no stores.
CREATE OR REPLACE FUNCTION generate_tasks(task_role text, per_store boolean, for_platform text, for_state text, args jsonb, urgency int, schedule bigint)
RETURNS int LANGUAGE plpgsql AS $f$
DECLARE specs jsonb;
BEGIN
  PERFORM lock_generation();
  IF per_store THEN
    SELECT jsonb_agg(jsonb_build_object('role', task_role, 'dispensary_id', d.id, 'platform', d.platform, 'payload', args,
                                        'priority', urgency, 'schedule_id', schedule) ORDER BY d.id)
      INTO specs FROM dispensaries d
     WHERE d.crawl_enabled AND d.platform_dispensary_id IS NOT NULL
       AND (for_platform IS NULL OR d.platform = for_platform) AND (for_state IS NULL OR d.state = for_state)
       AND NOT has_open_task(task_role, d.id);
  ELSIF NOT has_open_task(task_role, NULL) THEN
    specs := jsonb_build_array(jsonb_build_object('role', task_role, 'platform', for_platform, 'priority', urgency, 'schedule_id', schedule,
               'payload', CASE WHEN for_state IS NULL THEN args ELSE args || jsonb_build_object('state_code', for_state) END));
  END IF;
  IF specs IS NULL THEN RETURN 0; END IF;
  RETURN cardinality(enqueue_tasks(specs));
END $f$;
