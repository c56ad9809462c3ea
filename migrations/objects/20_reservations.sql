-- A store's reservation is held by its one task that is ready or active; the store's other tasks wait for it. docs/task-lifecycle.md
-- explains it.
--
-- Rules for the statements here and in the files after this one, so that no plan depends on statistics (a plan may be made while the table
-- is empty and used when it is full). Functions that are called from outside pin their plans: no sequential scan, no bitmap scan, no sort
-- where an index gives the order, one generic plan. A task is looked up by `id = ANY (...)` with its status compared to a variable: a
-- literal would admit a partial index, which would be scanned from end to end. A store is looked up by a parameter (LATERAL with LIMIT),
-- never by a join.

-- Tasks that hold the reservations of their stores.
CREATE OR REPLACE VIEW reservations AS
SELECT id, dispensary_id, role, priority, status, ready, updated_at
  FROM worker_tasks
 WHERE dispensary_id IS NOT NULL
   AND (status = 'pending' AND ready OR status IN ('claimed', 'running'));

-- Stores with a run that was cancelled and has not stopped yet: their reservations are not free.
CREATE OR REPLACE VIEW stopping_stores AS
SELECT dispensary_id
  FROM stopping_runs
 WHERE dispensary_id IS NOT NULL AND lease_expires_at > clock_timestamp();

-- Stores whose reservations are given to no task.
CREATE OR REPLACE VIEW unavailable_stores AS
SELECT dispensary_id FROM stopping_stores
UNION ALL
SELECT dispensary_id FROM paused_stores;

-- Pending tasks that could become ready: with a store, when they get its reservation; without one, when their time comes.
CREATE OR REPLACE VIEW waiting_tasks AS
SELECT id, dispensary_id, role, priority, scheduled_for, updated_at
  FROM worker_tasks
 WHERE status = 'pending' AND NOT ready AND NOT blocked;

-- Locks the reservation and the first waiting tasks of each of these stores, and returns the stores where no other session has one of these
-- rows locked.
CREATE OR REPLACE FUNCTION unlocked_stores(stores bigint[]) RETURNS bigint[] LANGUAGE plpgsql AS $f$
BEGIN
  RETURN ARRAY (
    SELECT s.store
      FROM unnest(stores) AS s(store)
     WHERE ARRAY (SELECT r.id FROM reservations r WHERE r.dispensary_id = s.store LIMIT 1)
         = ARRAY (SELECT r.id FROM reservations r WHERE r.dispensary_id = s.store LIMIT 1 FOR UPDATE SKIP LOCKED)
       AND ARRAY (SELECT w.id FROM waiting_tasks w WHERE w.dispensary_id = s.store ORDER BY w.priority DESC, w.id LIMIT 4)
         = ARRAY (SELECT w.id FROM waiting_tasks w WHERE w.dispensary_id = s.store ORDER BY w.priority DESC, w.id LIMIT 4
                     FOR UPDATE SKIP LOCKED));
END $f$;

-- Gives the reservation of each of these stores to its best waiting task that is due, unless the store is unavailable; returns the
-- number of reservations given. The n-th entry of `released` is a ready task of the n-th store, which gives the reservation up first; the
-- n-th entry of `other_than` is a role that must not get it; null = none. Rows that another session has locked stay as they are. The
-- statement fails if another session takes one of the reservations meanwhile, or if a task cannot become ready. Then the stores with locked
-- rows are left out, and each half of the others is tried separately, down to a single store, which is left out or whose task fails.
CREATE OR REPLACE FUNCTION give_reservations(stores bigint[], released bigint[], other_than text[])
RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE
  pending CONSTANT text := 'pending';
  chosen bigint[];
  given bigint[];   -- stores
  half int := cardinality(stores) / 2;
  unlocked bigint[];
BEGIN
  BEGIN
    IF released IS NOT NULL THEN
      UPDATE worker_tasks t SET ready = false, updated_at = now()
       WHERE t.id = ANY (ARRAY (
               SELECT r.id FROM worker_tasks r
                WHERE r.id = ANY (released) AND r.status = pending AND r.ready
                ORDER BY r.id
                  FOR UPDATE SKIP LOCKED));
    END IF;
    chosen := ARRAY (
      SELECT best.id
        FROM unnest(stores, other_than) AS s(store, other_than)
       CROSS JOIN LATERAL (
             SELECT w.id FROM waiting_tasks w
              WHERE w.dispensary_id = s.store AND is_due(w.scheduled_for) AND w.role IS DISTINCT FROM s.other_than
              ORDER BY w.priority DESC, w.id
              LIMIT 1
                FOR UPDATE SKIP LOCKED) best
       WHERE NOT EXISTS (SELECT FROM unavailable_stores u WHERE u.dispensary_id = s.store));
    WITH made AS (
      UPDATE worker_tasks t SET ready = true, updated_at = now() WHERE t.id = ANY (chosen) RETURNING t.dispensary_id)
    SELECT array_agg(m.dispensary_id) INTO given FROM made m;
    -- a task may have been cancelled since the choice: the index then lets its store go, and the row that keeps the store is visible now
    PERFORM FROM stopping_stores r WHERE r.dispensary_id = ANY (given) LIMIT 1;
    IF FOUND THEN RAISE unique_violation USING MESSAGE = 'a run of the store is being stopped'; END IF;
    RETURN coalesce(cardinality(given), 0);
  EXCEPTION
    WHEN lock_not_available THEN   -- each try waits: with some tens of such stores, halving would exceed the time limit of a statement
      unlocked := unlocked_stores(stores);
      IF cardinality(unlocked) < cardinality(stores) THEN
        SELECT array_agg(s.store), array_agg(s.released), array_agg(s.other_than)
          INTO stores, released, other_than
          FROM unnest(stores, released, other_than) AS s(store, released, other_than)
         WHERE s.store = ANY (unlocked);
        RETURN coalesce(give_reservations(stores, released, other_than), 0);
      END IF;
      IF half = 0 THEN RETURN 0; END IF;
    WHEN unique_violation THEN
      IF half = 0 THEN RETURN 0; END IF;
    WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
      IF half = 0 THEN
        PERFORM set_aside(chosen[1], format('the task cannot become ready: %s', SQLERRM));
        RETURN 0;
      END IF;
  END;
  RETURN give_reservations(stores[:half], released[:half], other_than[:half])
       + give_reservations(stores[half + 1:], released[half + 1:], other_than[half + 1:]);
END $f$;

-- Gives the free reservations of these stores to their next waiting tasks; returns the number of reservations given. Every function that
-- ends, snoozes or retries a task calls it in its own transaction. Nulls among the stores are ignored.
DROP FUNCTION IF EXISTS yield_slots(bigint[]);
CREATE OR REPLACE FUNCTION promote_stores(freed bigint[]) RETURNS bigint LANGUAGE plpgsql AS $f$
BEGIN
  -- most stores have no waiting task
  PERFORM FROM unnest(freed) AS f(store)
    CROSS JOIN LATERAL (
          SELECT w.id FROM waiting_tasks w WHERE w.dispensary_id = f.store ORDER BY w.priority DESC, w.id LIMIT 1) waiting
    LIMIT 1;
  IF NOT FOUND THEN RETURN 0; END IF;
  RETURN give_reservations(freed, NULL, NULL);
END $f$;

-- Fails a task that the queue cannot handle, so that the others go on. A task that cannot even be failed stays as it is.
CREATE OR REPLACE FUNCTION set_aside(task_id bigint, reason text) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE store bigint;
BEGIN
  UPDATE worker_tasks t
     SET status = 'failed', ready = false, blocked = false, completed_at = clock_timestamp(), updated_at = clock_timestamp(),
         dedup_key = NULL, error_message = left(reason, 2000)
   WHERE t.id = task_id
  RETURNING t.dispensary_id INTO store;
  PERFORM promote_stores(ARRAY[store]);
EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
  RAISE WARNING 'task % cannot be ended: %', task_id, SQLERRM;
END $f$;

-- Moves the reservations of these stores to the tasks that should have them; returns the number of reservations moved. A free one goes to
-- the best due task. That of a ready task goes to a more urgent one that was made or became due later. That of a ready task which no worker
-- has claimed for 30 s goes to a task of another role, since its own role may have no workers now.
CREATE OR REPLACE FUNCTION review_reservations(asked bigint[]) RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE
  stores bigint[];
  released bigint[];
  other_than text[];
BEGIN
  SELECT array_agg(store), array_agg(holder), array_agg(unclaimed_role)
    INTO stores, released, other_than
    FROM (
      SELECT s.store, holder.id AS holder,
             CASE WHEN holder.priority < best.priority AND holder.updated_at < best.since THEN NULL ELSE holder.role END AS unclaimed_role
        FROM unnest(asked) AS s(store)
       CROSS JOIN LATERAL (
             SELECT w.priority, greatest(w.updated_at, w.scheduled_for) AS since
               FROM waiting_tasks w
              WHERE w.dispensary_id = s.store AND is_due(w.scheduled_for)
              ORDER BY w.priority DESC, w.id
              LIMIT 1) best
        LEFT JOIN LATERAL (
             SELECT r.id, r.role, r.priority, r.ready, r.updated_at FROM reservations r WHERE r.dispensary_id = s.store LIMIT 1) holder
               ON true
       WHERE holder.id IS NULL
          OR holder.ready AND holder.priority < best.priority AND holder.updated_at < best.since
          OR holder.ready AND holder.updated_at < now() - interval '30 seconds'
             AND (SELECT w.id FROM waiting_tasks w
                   WHERE w.dispensary_id = s.store AND is_due(w.scheduled_for) AND w.role <> holder.role
                   ORDER BY w.priority DESC, w.id
                   LIMIT 1) IS NOT NULL) misplaced;
  IF stores IS NULL THEN RETURN 0; END IF;
  RETURN give_reservations(stores, released, other_than);
END $f$;
