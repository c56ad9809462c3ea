-- The slot of a store: who may be claimed next. docs/task-lifecycle.md has the picture.

-- Gives free slots of these stores to their next waiting due task. Whatever ends, snoozes or retries a task calls it for the
-- stores it touched. A concurrent enqueue may have taken a slot unseen: then the unique index speaks, and there is nothing to do.
-- Called by drover's own functions only, with their settings.
DROP FUNCTION IF EXISTS promote_stores(bigint[]) CASCADE;
CREATE FUNCTION promote_stores(freed bigint[]) RETURNS bigint LANGUAGE plpgsql AS $f$   -- null and nulls are nobody
DECLARE promoted bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM unnest(freed) f(store) JOIN worker_tasks w ON w.dispensary_id = f.store
                  WHERE w.status = 'pending' AND NOT w.ready AND NOT w.blocked) THEN
    RETURN 0;   -- nobody waits, which is the rule
  END IF;
  BEGIN
    WITH next AS MATERIALIZED (
      SELECT w.id, w.dispensary_id
        FROM (SELECT DISTINCT unnest(freed) ORDER BY 1) f(store)
       CROSS JOIN LATERAL (
         SELECT id, dispensary_id FROM worker_tasks w
          WHERE w.dispensary_id = f.store AND w.status = 'pending' AND NOT w.ready AND NOT w.blocked
            AND (w.scheduled_for IS NULL OR w.scheduled_for <= now())
          ORDER BY w.priority DESC, w.id LIMIT 1 FOR UPDATE SKIP LOCKED) w)
    UPDATE worker_tasks w SET ready = true FROM next
     WHERE w.id = next.id AND NOT EXISTS (
       SELECT 1 FROM worker_tasks h WHERE h.dispensary_id = next.dispensary_id
          AND (h.status = 'pending' AND h.ready OR h.status IN ('claimed', 'running')));
    GET DIAGNOSTICS promoted = ROW_COUNT;
    RETURN promoted;
  EXCEPTION WHEN unique_violation THEN
    RETURN 0;   -- one of the batch lost its race: the sweep brings the others
  END;
END $f$;

-- Whoever moves the slots of several stores does it alone, until the end of its transaction: one that takes a slot over and waits
-- for the next would else wait for one that waits for it. One store at a time cannot, and asks nobody.
CREATE OR REPLACE FUNCTION lock_slots() RETURNS void LANGUAGE sql AS $f$ SELECT pg_advisory_xact_lock(7344) $f$;

-- Tasks to be, as rows: `specs` is a JSON array of objects with the names of the columns, `ids` their ids in that order.
CREATE OR REPLACE FUNCTION task_specs(specs jsonb, ids bigint[])
RETURNS TABLE (id bigint, role text, dispensary_id bigint, platform text, priority int, scheduled_for timestamptz, payload jsonb,
               max_retries int, dedup_key text, depends_on bigint[], depends_policy text, parent_task_id bigint, schedule_id bigint,
               may_be_ready boolean, ord bigint) LANGUAGE sql STABLE AS $f$
  SELECT ids[s.ord], s.role, s.dispensary_id, s.platform, coalesce(s.priority, 0), s.scheduled_for, coalesce(s.payload, '{}'),
         coalesce(s.max_retries, 3), s.dedup_key, nullif(s.depends_on, '{}'), coalesce(s.depends_policy, 'cancel'), s.parent_task_id, s.schedule_id,
         nullif(s.depends_on, '{}') IS NULL AND (s.scheduled_for IS NULL OR s.scheduled_for <= now()), s.ord
    FROM ROWS FROM (jsonb_to_recordset(specs) AS (role text, dispensary_id bigint, platform text, priority int, scheduled_for timestamptz,
           payload jsonb, max_retries int, dedup_key text, depends_on bigint[], depends_policy text, parent_task_id bigint, schedule_id bigint))
         WITH ORDINALITY AS s(role, dispensary_id, platform, priority, scheduled_for, payload, max_retries, dedup_key, depends_on,
           depends_policy, parent_task_id, schedule_id, ord)
$f$;

-- Inserts tasks and returns their ids in the order given. A more urgent task takes the slot over from a store's ready but
-- unclaimed one. A dedup key that is already queued is a unique violation and inserts nothing.
CREATE OR REPLACE FUNCTION enqueue_tasks(specs jsonb) RETURNS bigint[] LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE ids bigint[]; placed bigint[];
BEGIN
  IF jsonb_array_length(specs) = 0 THEN RETURN '{}'; END IF;
  IF jsonb_array_length(specs) > 1 THEN PERFORM lock_slots(); END IF;
  SELECT array_agg(nextval('worker_tasks_id_seq')) INTO ids FROM generate_series(1, jsonb_array_length(specs));
  WITH best AS (
         SELECT s.dispensary_id AS store, max(s.priority) AS priority FROM task_specs(specs, ids) s
          WHERE s.dispensary_id IS NOT NULL AND s.may_be_ready GROUP BY 1),
       yielding AS (
         SELECT h.id FROM best JOIN worker_tasks h
             ON h.dispensary_id = best.store AND h.status = 'pending' AND h.ready AND h.priority < best.priority
          ORDER BY h.id FOR UPDATE OF h SKIP LOCKED)
  UPDATE worker_tasks h SET ready = false FROM yielding y WHERE h.id = y.id;

  WITH ranked AS (
         SELECT s.*, row_number() OVER (PARTITION BY s.dispensary_id, s.may_be_ready ORDER BY s.priority DESC, s.ord) AS rank
           FROM task_specs(specs, ids) s),
       inserted AS (
         INSERT INTO worker_tasks (id, role, dispensary_id, platform, priority, scheduled_for, payload, max_retries, dedup_key,
                                   depends_on, depends_policy, parent_task_id, schedule_id, blocked, ready)
         SELECT r.id, r.role, r.dispensary_id, r.platform, r.priority, r.scheduled_for, r.payload, r.max_retries, r.dedup_key,
                r.depends_on, r.depends_policy, r.parent_task_id, r.schedule_id, r.depends_on IS NOT NULL,
                r.may_be_ready AND (r.dispensary_id IS NULL OR r.rank = 1 AND NOT EXISTS (
                  SELECT 1 FROM worker_tasks h WHERE h.dispensary_id = r.dispensary_id
                     AND (h.status = 'pending' AND h.ready OR h.status IN ('claimed', 'running'))))
           FROM ranked r ORDER BY r.ord
         ON CONFLICT DO NOTHING RETURNING id)   -- a race for the slot is lost silently …
  SELECT array_agg(id) INTO placed FROM inserted;

  IF cardinality(placed) IS DISTINCT FROM cardinality(ids) THEN   -- … and the loser waits
    INSERT INTO worker_tasks (id, role, dispensary_id, platform, priority, scheduled_for, payload, max_retries, dedup_key,
                              depends_on, depends_policy, parent_task_id, schedule_id, blocked)
    SELECT s.id, s.role, s.dispensary_id, s.platform, s.priority, s.scheduled_for, s.payload, s.max_retries, s.dedup_key,
           s.depends_on, s.depends_policy, s.parent_task_id, s.schedule_id, s.depends_on IS NOT NULL
      FROM task_specs(specs, ids) s WHERE placed IS NULL OR s.id <> ALL (placed);
  END IF;
  PERFORM pg_notify('drover_tasks', '');
  RETURN ids;
END $f$;

-- Takes the slots of these stores from ready tasks that a waiting, due one outranks: it came by hand, or became due, after them.
CREATE OR REPLACE FUNCTION yield_slots(stores bigint[]) RETURNS void LANGUAGE sql SET drover.own = 'on' AS $f$
  WITH yielding AS (
    SELECT h.id FROM worker_tasks h
     WHERE h.dispensary_id = ANY (stores) AND h.status = 'pending' AND h.ready AND h.priority < (
           SELECT w.priority FROM worker_tasks w
            WHERE w.dispensary_id = h.dispensary_id AND w.status = 'pending' AND NOT w.ready AND NOT w.blocked
              AND (w.scheduled_for IS NULL OR w.scheduled_for <= now())
            ORDER BY w.priority DESC, w.id LIMIT 1)
     ORDER BY h.id FOR UPDATE OF h SKIP LOCKED)
  UPDATE worker_tasks h SET ready = false FROM yielding y WHERE h.id = y.id
$f$;

-- Every second, one process at a time: what became due since the last look. What finds its store's slot taken is brought by
-- that slot's settlement.
CREATE OR REPLACE FUNCTION sweep_due(back interval) RETURNS bigint LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE swept bigint; stores bigint[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(7341) THEN RETURN 0; END IF;
  PERFORM lock_slots();
  WITH due AS (
    SELECT t.id FROM worker_tasks t
     WHERE t.status = 'pending' AND NOT t.ready AND NOT t.blocked AND t.scheduled_for BETWEEN now() - back AND now()
       AND t.dispensary_id IS NULL FOR UPDATE SKIP LOCKED)
  UPDATE worker_tasks t SET ready = true FROM due WHERE t.id = due.id;
  GET DIAGNOSTICS swept = ROW_COUNT;
  SELECT array_agg(DISTINCT dispensary_id) INTO stores FROM worker_tasks
   WHERE status = 'pending' AND NOT ready AND NOT blocked AND scheduled_for BETWEEN now() - back AND now() AND dispensary_id IS NOT NULL;
  IF stores IS NOT NULL THEN
    PERFORM yield_slots(stores);
    swept := swept + promote_stores(stores);
  END IF;
  IF swept > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN swept;
END $f$;

-- Tasks whose dependencies have ended: unblocked, or cancelled by their policy. A dependency that is gone had ended long ago.
CREATE OR REPLACE FUNCTION sweep_blocked() RETURNS bigint LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE touched bigint;
BEGIN
  WITH waiting AS (
         SELECT t.id, t.depends_policy,
                count(*) FILTER (WHERE d.status IN ('pending', 'claimed', 'running')) AS open,
                min(d.id) FILTER (WHERE d.status IN ('failed', 'cancelled')) AS broken
           FROM worker_tasks t LEFT JOIN LATERAL unnest(t.depends_on) u(id) ON true LEFT JOIN worker_tasks d ON d.id = u.id
          WHERE t.status = 'pending' AND t.blocked GROUP BY t.id, t.depends_policy),
       decided AS (
         SELECT w.id, w.broken, w.broken IS NOT NULL AND w.depends_policy = 'cancel' AS cancel FROM waiting w
          WHERE w.open = 0 OR w.broken IS NOT NULL AND w.depends_policy = 'cancel'),
       locked AS (
         SELECT t.id, d.broken, d.cancel FROM decided d JOIN worker_tasks t USING (id)
          WHERE t.status = 'pending' AND t.blocked ORDER BY t.id LIMIT 10000 FOR UPDATE OF t SKIP LOCKED)
  UPDATE worker_tasks t SET blocked = false, updated_at = now(),
         status = CASE WHEN l.cancel THEN 'cancelled' ELSE 'pending' END,
         completed_at = CASE WHEN l.cancel THEN now() END,
         dedup_key = CASE WHEN l.cancel THEN NULL ELSE t.dedup_key END,
         error_message = CASE WHEN l.cancel THEN format('cancelled: task %s, on which it depends, did not complete', l.broken) ELSE t.error_message END
    FROM locked l WHERE t.id = l.id;
  GET DIAGNOSTICS touched = ROW_COUNT;
  RETURN touched;
END $f$;

-- Every few seconds, the backstop: what was written by hand, dependencies, and a wake-up that an enqueue and a completion
-- missed in each other's shadow.
CREATE OR REPLACE FUNCTION sweep_all() RETURNS bigint LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE swept bigint; stores bigint[]; store bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7341) THEN RETURN 0; END IF;
  PERFORM lock_slots();
  PERFORM sweep_blocked();
  WITH free AS (
    SELECT t.id FROM worker_tasks t
     WHERE t.status = 'pending' AND NOT t.ready AND NOT t.blocked AND t.dispensary_id IS NULL
       AND (t.scheduled_for IS NULL OR t.scheduled_for <= now()) LIMIT 10000 FOR UPDATE SKIP LOCKED)
  UPDATE worker_tasks t SET ready = true FROM free WHERE t.id = free.id;
  GET DIAGNOSTICS swept = ROW_COUNT;
  WITH RECURSIVE waiting AS (   -- a skip scan: one index probe a store, however many tasks wait
      (SELECT dispensary_id AS store FROM worker_tasks
        WHERE status = 'pending' AND NOT ready AND NOT blocked AND dispensary_id IS NOT NULL ORDER BY dispensary_id LIMIT 1)
      UNION ALL
      SELECT (SELECT dispensary_id FROM worker_tasks
               WHERE status = 'pending' AND NOT ready AND NOT blocked AND dispensary_id > w.store ORDER BY dispensary_id LIMIT 1)
        FROM waiting w WHERE w.store IS NOT NULL)
  SELECT array_agg(w.store) INTO stores FROM waiting w WHERE w.store IS NOT NULL;
  PERFORM yield_slots(stores);
  SELECT array_agg(s.store ORDER BY s.store) INTO stores FROM unnest(stores) s(store) WHERE NOT EXISTS (
      SELECT 1 FROM worker_tasks h WHERE h.dispensary_id = s.store AND (h.status = 'pending' AND h.ready OR h.status IN ('claimed', 'running')));
  FOREACH store IN ARRAY coalesce(stores, '{}') LOOP
    swept := swept + promote_stores(ARRAY[store]);   -- one by one: a lost race costs one store, not the batch
  END LOOP;
  IF swept > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN swept;
END $f$;
