-- Periodic work. Each call is a short transaction over at most `batch` stores or tasks, and waits at most 100 ms for a lock; the caller
-- repeats it until nothing is left. Only one `exclusive` call runs at a time. The calls of `sweep_all` at psql are not exclusive, since its
-- transaction may stay open.

DROP FUNCTION IF EXISTS sweep_due(interval);
DROP FUNCTION IF EXISTS sweep_all();   -- 90_psql.sql creates it
DROP FUNCTION IF EXISTS sweep_blocked();

-- True if it is the caller's turn to do this chore; false if a process did it within `every`, or is taking its turn now. Records the turn,
-- and since when turns have come without a longer break: during a break, the database or every process was away.
CREATE OR REPLACE FUNCTION take_turn(chore text, every interval) RETURNS boolean LANGUAGE plpgsql AS $f$
DECLARE last_turn timestamptz;
BEGIN
  SELECT c.done_at INTO last_turn FROM queue_chores c WHERE c.name = chore FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN   -- another process has the row, or this is the first turn of all
    INSERT INTO queue_chores (name) VALUES (chore) ON CONFLICT DO NOTHING;
    RETURN FOUND;
  END IF;
  IF last_turn > clock_timestamp() - every AND last_turn <= clock_timestamp() THEN RETURN false; END IF;
  UPDATE queue_chores c
     SET done_at = clock_timestamp(),
         unbroken_since = CASE WHEN last_turn > clock_timestamp() - greatest(3 * every, interval '5 seconds')
                                AND last_turn <= clock_timestamp() THEN c.unbroken_since
                               ELSE clock_timestamp() END
   WHERE c.name = chore;
  RETURN true;
END $f$;

-- Makes these waiting tasks ready and returns their number. The caller has locked their rows.
CREATE OR REPLACE FUNCTION make_ready(ids bigint[]) RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE
  made bigint;
  half int := cardinality(ids) / 2;
BEGIN
  UPDATE worker_tasks t SET ready = true, updated_at = now() WHERE t.id = ANY (ids);
  GET DIAGNOSTICS made = ROW_COUNT;
  IF made > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN made;
EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
  IF half > 0 THEN RETURN make_ready(ids[:half]) + make_ready(ids[half + 1:]); END IF;
  PERFORM set_aside(ids[1], format('the task cannot become ready: %s', SQLERRM));
  RETURN 0;
END $f$;

-- Reviews the reservations of one page of stores, which come by ascending id. The next page continues after `last_store`; null if there is
-- none: another page may come only after a full one.
CREATE OR REPLACE FUNCTION review_page(stores bigint[], page int, OUT swept bigint, OUT last_store bigint) LANGUAGE plpgsql AS $f$
BEGIN
  IF cardinality(stores) = page THEN last_store := stores[page]; END IF;
  swept := review_reservations(stores);
  IF swept > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
END $f$;

-- Sweeps the tasks that became due within the last `look_back`: makes those without a store ready, and reviews the reservations of stores
-- with ids above `after` (null: all). The next call continues after `last_store`; null if nothing is left. If a store has an active task,
-- the end of that task hands on the reservation.
DROP FUNCTION IF EXISTS sweep_due(interval, bigint, int);   -- `look_back` had another name
CREATE OR REPLACE FUNCTION sweep_due(look_back interval, after bigint, batch int, OUT swept bigint, OUT last_store bigint) LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
DECLARE
  stores bigint[];
  storeless bigint := 0;
BEGIN
  swept := 0;
  IF NOT try_lock_sweep() THEN RETURN; END IF;
  IF after IS NULL THEN
    storeless := make_ready(ARRAY (
      SELECT w.id FROM waiting_tasks w
       WHERE w.scheduled_for BETWEEN now() - look_back AND now() AND w.dispensary_id IS NULL
       ORDER BY w.scheduled_for
       LIMIT batch
         FOR UPDATE SKIP LOCKED));
  END IF;
  stores := ARRAY (
    SELECT DISTINCT due.dispensary_id
      FROM (SELECT w.dispensary_id FROM waiting_tasks w
             WHERE w.scheduled_for BETWEEN now() - look_back AND now()
             ORDER BY w.scheduled_for) due
     WHERE due.dispensary_id > coalesce(after, -9223372036854775808)
     ORDER BY due.dispensary_id
     LIMIT batch);
  SELECT storeless + p.swept, p.last_store INTO swept, last_store FROM review_page(stores, batch) p;
END $f$;

-- Unblocks tasks whose dependencies have ended, or cancels them by their policy. A dependency that is gone had ended long ago.
CREATE OR REPLACE FUNCTION sweep_blocked(batch int, exclusive boolean DEFAULT true) RETURNS bigint LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
DECLARE
  pending CONSTANT text := 'pending';
  decided record;
  swept bigint := 0;
BEGIN
  IF exclusive AND NOT try_lock_sweep() THEN RETURN 0; END IF;
  FOR decided IN
    SELECT t.id, d.broken, d.broken IS NOT NULL AND t.depends_policy = 'cancel' AS is_cancelled
      FROM (SELECT b.id, b.depends_on, b.depends_policy FROM worker_tasks b
             WHERE b.status = 'pending' AND b.blocked
             ORDER BY b.dispensary_id, b.role) t
     CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE w.status IN ('pending', 'claimed', 'running')) AS open,
                  min(w.id) FILTER (WHERE w.status IN ('failed', 'cancelled')) AS broken
             FROM worker_tasks w
            WHERE w.id = ANY (t.depends_on)) d
     WHERE d.open = 0 OR d.broken IS NOT NULL AND t.depends_policy = 'cancel'
     LIMIT batch
  LOOP
    PERFORM FROM worker_tasks t WHERE t.id = decided.id AND t.status = pending AND t.blocked FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    BEGIN
      IF decided.is_cancelled THEN
        UPDATE worker_tasks t
           SET status = 'cancelled', blocked = false, updated_at = now(), completed_at = now(), dedup_key = NULL,
               error_message = format('cancelled: task %s, on which it depends, did not complete', decided.broken)
         WHERE t.id = decided.id;
      ELSE
        UPDATE worker_tasks t SET blocked = false, updated_at = now() WHERE t.id = decided.id;
      END IF;
      swept := swept + 1;
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
      PERFORM set_aside(decided.id, format('the task cannot be unblocked: %s', SQLERRM));
    END;
  END LOOP;
  RETURN swept;
END $f$;

-- Makes waiting tasks without a store ready if their time has come, however long ago.
CREATE OR REPLACE FUNCTION sweep_storeless(batch int, exclusive boolean DEFAULT true) RETURNS bigint LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
BEGIN
  IF exclusive AND NOT try_lock_sweep() THEN RETURN 0; END IF;
  RETURN make_ready(ARRAY (
    SELECT w.id FROM waiting_tasks w
     WHERE w.dispensary_id IS NULL AND is_due(w.scheduled_for)
     ORDER BY w.dispensary_id, w.priority DESC, w.id
     LIMIT batch
       FOR UPDATE SKIP LOCKED));
END $f$;

-- Ends cancelled runs that no worker has reported as stopped: their stores are free when the leases would have expired.
CREATE OR REPLACE FUNCTION sweep_stopping(batch int, exclusive boolean DEFAULT true) RETURNS bigint LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
DECLARE
  ended bigint;
  freed bigint[];
BEGIN
  IF exclusive AND NOT try_lock_sweep() THEN RETURN 0; END IF;
  WITH overdue AS (
         SELECT s.task_id, s.fence FROM stopping_runs s
          WHERE s.lease_expires_at <= clock_timestamp()
          LIMIT batch
            FOR UPDATE SKIP LOCKED),
       gone AS (
         DELETE FROM stopping_runs s USING overdue o WHERE s.task_id = o.task_id AND s.fence = o.fence RETURNING s.dispensary_id)
  SELECT count(*), array_agg(g.dispensary_id) FILTER (WHERE g.dispensary_id IS NOT NULL) INTO ended, freed FROM gone g;
  IF promote_stores(freed) > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN ended;
END $f$;

-- Reviews the reservations of the next `batch` stores with ids above `after` (null: from the first) that have a waiting task. It finds rows
-- that were written by hand, and tasks that an enqueue and a completion missed because they ran at once and did not see each other.
CREATE OR REPLACE FUNCTION sweep_stores(after bigint, batch int, exclusive boolean DEFAULT true, OUT swept bigint, OUT last_store bigint) LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
DECLARE stores bigint[];
BEGIN
  swept := 0;
  IF exclusive AND NOT try_lock_sweep() THEN RETURN; END IF;
  WITH RECURSIVE waiting(store) AS (   -- a skip scan: one index probe per store, however many tasks wait
      (SELECT w.dispensary_id FROM waiting_tasks w
        WHERE w.dispensary_id > coalesce(after, -9223372036854775808)
        ORDER BY w.dispensary_id LIMIT 1)
      UNION ALL
      SELECT (SELECT w.dispensary_id FROM waiting_tasks w WHERE w.dispensary_id > p.store ORDER BY w.dispensary_id LIMIT 1)
        FROM waiting p WHERE p.store IS NOT NULL)
  SELECT array_agg(s.store) INTO stores FROM (SELECT w.store FROM waiting w WHERE w.store IS NOT NULL LIMIT batch) s;
  SELECT p.swept, p.last_store INTO swept, last_store FROM review_page(stores, batch) p;
END $f$;
