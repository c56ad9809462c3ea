-- Inserts tasks, and gives them free reservations.

-- The tasks to insert, as rows. `specs` is a JSON array of objects with the names of the columns; `ids` are the tasks' ids in the same
-- order.
CREATE OR REPLACE FUNCTION task_specs(specs jsonb, ids bigint[])
RETURNS TABLE (id bigint, role text, dispensary_id bigint, platform text, priority int, scheduled_for timestamptz, payload jsonb,
               max_retries int, dedup_key text, depends_on bigint[], depends_policy text, parent_task_id bigint, schedule_id bigint,
               account text, may_be_ready boolean, ord bigint, family text, notifies boolean)
LANGUAGE sql STABLE AS $f$
  SELECT ids[s.ord], s.role, s.dispensary_id, s.platform, coalesce(s.priority, 0), s.scheduled_for, coalesce(s.payload, '{}'),
         coalesce(s.max_retries, 3), s.dedup_key, nullif(s.depends_on, '{}'), coalesce(s.depends_policy, 'cancel'),
         s.parent_task_id, s.schedule_id, s.account,
         nullif(s.depends_on, '{}') IS NULL AND is_due(s.scheduled_for), s.ord, k.family, k.notifies
    FROM ROWS FROM (jsonb_to_recordset(specs) AS (
           role text, dispensary_id bigint, platform text, priority int, scheduled_for timestamptz, payload jsonb, max_retries int,
           dedup_key text, depends_on bigint[], depends_policy text, parent_task_id bigint, schedule_id bigint, account text))
         WITH ORDINALITY AS s(role, dispensary_id, platform, priority, scheduled_for, payload, max_retries, dedup_key, depends_on,
           depends_policy, parent_task_id, schedule_id, account, ord)
    LEFT JOIN task_kinds k ON k.name = s.role
$f$;

-- Inserts the tasks of `specs` that are not inserted yet (`present`), and returns the ids of the new rows. With `reserve`, the best task of
-- each store becomes ready if no other task has the store's reservation; if a run of such a store has just been cancelled:
-- lock_not_available. A task that conflicts with another row (its store's reservation, its dedup key) is left out.
CREATE OR REPLACE FUNCTION insert_tasks(specs jsonb, ids bigint[], present bigint[], reserve boolean)
RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE inserted bigint[];
BEGIN
  WITH ranked AS (
         SELECT s.*,
                row_number() OVER (PARTITION BY s.dispensary_id, s.may_be_ready ORDER BY s.priority DESC, s.ord) AS rank
           FROM task_specs(specs, ids) s
          WHERE s.id NOT IN (SELECT unnest(present))),   -- a subquery is hashed; an array would be searched for each task
       made AS (
         INSERT INTO worker_tasks (id, role, dispensary_id, platform, priority, scheduled_for, payload, max_retries, dedup_key,
                                   depends_on, depends_policy, parent_task_id, schedule_id, account, family, notifies, blocked, ready)
         SELECT r.id, r.role, r.dispensary_id, r.platform, r.priority, r.scheduled_for, r.payload, r.max_retries, r.dedup_key,
                r.depends_on, r.depends_policy, r.parent_task_id, r.schedule_id, r.account, r.family, r.notifies, r.depends_on IS NOT NULL,
                r.may_be_ready AND (r.dispensary_id IS NULL
                                    OR reserve AND r.rank = 1
                                       AND (SELECT h.id FROM reservations h WHERE h.dispensary_id = r.dispensary_id LIMIT 1) IS NULL
                                       AND NOT EXISTS (SELECT FROM unavailable_stores u WHERE u.dispensary_id = r.dispensary_id))
           FROM ranked r
          ORDER BY r.ord
         ON CONFLICT DO NOTHING
         RETURNING id)
  SELECT coalesce(array_agg(id), '{}') INTO inserted FROM made;
  IF reserve THEN   -- as in give_reservations; a stopping run is rare
    PERFORM FROM stopping_stores p
      CROSS JOIN LATERAL (SELECT h.id FROM reservations h WHERE h.dispensary_id = p.dispensary_id LIMIT 1) holder
     WHERE holder.id = ANY (inserted)
     LIMIT 1;
    IF FOUND THEN RAISE lock_not_available USING MESSAGE = 'a run of the store is being stopped'; END IF;
  END IF;
  RETURN inserted;
END $f$;

-- If one of these tasks is more urgent than the ready task that has its store's reservation, the ready task gives it up.
CREATE OR REPLACE FUNCTION release_outranked(specs jsonb, ids bigint[]) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE outranked bigint[];
BEGIN
  outranked := ARRAY (
    SELECT holder.id
      FROM (SELECT s.dispensary_id AS store, max(s.priority) AS priority
              FROM task_specs(specs, ids) s
             WHERE s.dispensary_id IS NOT NULL AND s.may_be_ready
             GROUP BY s.dispensary_id) best
     CROSS JOIN LATERAL (
           SELECT r.id FROM reservations r
            WHERE r.dispensary_id = best.store AND r.ready AND r.priority < best.priority
            LIMIT 1
              FOR UPDATE SKIP LOCKED) holder);
  IF cardinality(outranked) > 0 THEN
    UPDATE worker_tasks t SET ready = false, updated_at = now() WHERE t.id = ANY (outranked);
  END IF;
END $f$;

-- Inserts tasks and returns their ids in the order given. A task is ready at once if it is due and its store's reservation is free, or held
-- by a ready task that is less urgent. Tasks of stores wait for the next sweep if `reserve` is false, if another session holds the lock of
-- reservations, or if a row is locked for longer than lock_timeout. A dedup key that an open task has is a unique violation: nothing is
-- inserted.
DROP FUNCTION IF EXISTS enqueue_tasks(jsonb);
CREATE OR REPLACE FUNCTION enqueue_tasks(specs jsonb, reserve boolean DEFAULT true) RETURNS bigint[] LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  ids bigint[];
  present bigint[] := '{}';
BEGIN
  IF jsonb_array_length(specs) = 0 THEN RETURN '{}'; END IF;
  ids := ARRAY (SELECT nextval('worker_tasks_id_seq') FROM generate_series(1, jsonb_array_length(specs)));
  IF reserve AND (cardinality(ids) = 1 OR try_lock_reservations()) THEN
    BEGIN
      PERFORM release_outranked(specs, ids);
      present := insert_tasks(specs, ids, '{}', true);
    EXCEPTION WHEN lock_not_available THEN
      present := '{}';   -- another session keeps one of the stores locked
    END;
  END IF;
  IF cardinality(present) < cardinality(ids) THEN   -- a task whose reservation another session took meanwhile waits
    present := present || insert_tasks(specs, ids, present, false);
  END IF;
  IF cardinality(present) < cardinality(ids) THEN
    RAISE unique_violation USING
      MESSAGE = 'a task with the same key is queued or running already',
      DETAIL = (SELECT format('Key (dedup_key)=(%s) already exists.', s.dedup_key)
                  FROM task_specs(specs, ids) s WHERE s.id <> ALL (present) LIMIT 1),
      CONSTRAINT = 'worker_tasks_dedup_key';
  END IF;
  PERFORM pg_notify('drover_tasks', '');
  RETURN ids;
END $f$;
