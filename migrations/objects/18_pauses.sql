-- Pauses as the queue obeys them. A process that runs tasks reads pauses_in_force twice a second: it claims no task of a paused family or
-- role, and a paused worker claims none. A paused store's reservation is given to no task.

CREATE OR REPLACE VIEW pauses_in_force AS
SELECT * FROM pauses WHERE until IS NULL OR until > clock_timestamp();

CREATE OR REPLACE VIEW paused_stores AS
SELECT dispensary_id FROM pauses_in_force WHERE dispensary_id IS NOT NULL;

-- The roles of these that are not paused: for claims at psql.
CREATE OR REPLACE FUNCTION unpaused_roles(roles text[]) RETURNS text[] LANGUAGE sql STABLE AS $f$
  SELECT ARRAY (SELECT r.name FROM unnest(roles) AS r(name) LEFT JOIN task_kinds k ON k.name = r.name
                 WHERE NOT EXISTS (SELECT FROM pauses_in_force p
                                    WHERE p.scope = 'all'
                                       OR p.scope = 'family' AND p.target = k.family
                                       OR p.scope = 'role' AND p.target = r.name))
$f$;

-- Takes the reservations of paused stores from tasks that are ready and not claimed; returns the number of these tasks. A row that another
-- session has locked is being claimed, or comes with the next call.
CREATE OR REPLACE FUNCTION hold_paused_stores() RETURNS bigint LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
DECLARE
  held bigint;
BEGIN
  UPDATE worker_tasks t SET ready = false, updated_at = now()
   WHERE t.id = ANY (ARRAY (
           SELECT holder.id
             FROM paused_stores p
            CROSS JOIN LATERAL (
                  SELECT r.id FROM reservations r WHERE r.dispensary_id = p.dispensary_id AND r.ready LIMIT 1
                     FOR UPDATE SKIP LOCKED) holder));
  GET DIAGNOSTICS held = ROW_COUNT;
  RETURN held;
END $f$;

-- Orders the workers with this friendly name to pause or to resume: a worker outside of the program learns it with its next heartbeat, as
-- any other command.
CREATE OR REPLACE FUNCTION order_workers(of_name text, of_command text) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
BEGIN
  INSERT INTO worker_commands (worker_id, command)
  SELECT w.worker_id, of_command FROM worker_registry w WHERE w.friendly_name = of_name AND w.status <> 'offline';
END $f$;

-- Ends a pause; returns what it was. No row: there is none with this id.
CREATE OR REPLACE FUNCTION end_pause(pause_id bigint) RETURNS SETOF pauses LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE ended pauses;
BEGIN
  DELETE FROM pauses p WHERE p.id = pause_id RETURNING p.* INTO ended;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM promote_stores(ARRAY[ended.dispensary_id]);
  IF ended.scope = 'worker' THEN PERFORM order_workers(ended.target, 'resume'); END IF;
  PERFORM pg_notify('drover_tasks', '');
  RETURN NEXT ended;
END $f$;

-- Removes pauses whose time is over, and holds the stores of the others: a task may have become ready while its pause was being made.
-- Returns the number of pauses and tasks that it changed.
CREATE OR REPLACE FUNCTION sweep_pauses() RETURNS bigint LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
DECLARE
  over bigint;
  changed bigint := 0;
BEGIN
  PERFORM FROM pauses LIMIT 1;
  IF NOT FOUND THEN RETURN 0; END IF;
  FOR over IN SELECT p.id FROM pauses p WHERE p.until <= clock_timestamp() FOR UPDATE SKIP LOCKED LOOP
    PERFORM end_pause(over);
    changed := changed + 1;
  END LOOP;
  RETURN changed + hold_paused_stores();
END $f$;
