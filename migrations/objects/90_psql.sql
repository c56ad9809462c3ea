-- For operators at psql: established names for the functions that the program calls.

-- Claims the best ready task of a role that is not paused; null: of any crawl role. If no task is ready, rows that were written by hand become ready first:
-- they wait for a sweep, and perhaps no process runs that sweeps.
DROP FUNCTION IF EXISTS claim_task(text, text);
CREATE FUNCTION claim_task(task_role text, worker text) RETURNS SETOF worker_tasks LANGUAGE plpgsql AS $f$
BEGIN
  IF btrim(worker, E' \t\n') = '' IS NOT FALSE THEN
    RAISE invalid_parameter_value USING MESSAGE = 'claim_task needs the name of the worker';
  END IF;
  RETURN QUERY SELECT * FROM claim_ready(task_role, worker);
  IF NOT FOUND AND sweep_all() > 0 THEN RETURN QUERY SELECT * FROM claim_ready(task_role, worker); END IF;
END $f$;

DROP FUNCTION IF EXISTS claim_ready(text, text);
CREATE FUNCTION claim_ready(task_role text, worker text) RETURNS SETOF worker_tasks LANGUAGE plpgsql AS $f$
DECLARE
  wanted text[] := CASE WHEN task_role IS NULL THEN roles_of('{crawl,service}')
                        WHEN task_role = 'product_resync' THEN ARRAY['payload_fetch', 'product_discovery', 'product_refresh']
                        ELSE ARRAY[task_role] END;
  roles text[] := unpaused_roles(wanted);
  claimed bigint[];
BEGIN
  IF cardinality(roles) = 0 THEN RETURN; END IF;
  claimed := ARRAY (
    SELECT c.id
      FROM settle_and_claim('{}', '{}', '{}', '{}', '{}', roles, task_role IS NULL AND roles = wanted, ARRAY[worker],
             interval '10 minutes', true, NULL) c);
  RETURN QUERY SELECT * FROM worker_tasks t WHERE t.id = ANY (claimed);
END $f$;

-- Puts back tasks without a heartbeat for that many minutes, or with an expired lease; returns their number. Too few minutes cost runs but
-- no data: a run that was put back while it went on cannot write any more.
CREATE OR REPLACE FUNCTION recover_stale_tasks(minutes int) RETURNS int LANGUAGE plpgsql AS $f$
BEGIN
  IF minutes IS NULL OR minutes < 0 THEN
    RAISE numeric_value_out_of_range USING MESSAGE = format('minutes must be 0 or more, not %s', coalesce(minutes::text, 'null'));
  END IF;
  RETURN (SELECT r.requeued + r.failed FROM recover_tasks(make_interval(mins => minutes)) r);
END $f$;

-- Makes payload_fetch tasks for a day (generate_resync); returns their number. An operator can wait for another generation.
CREATE OR REPLACE FUNCTION generate_resync_tasks(batches int, day date) RETURNS int LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM lock_generation('payload_fetch');
  RETURN (SELECT r.made FROM generate_resync(batches, day, NULL) r);
END $f$;

-- Runs the periodic sweeps now, in one transaction: rows that were written by hand become ready. Returns the number of affected tasks.
CREATE OR REPLACE FUNCTION sweep_all() RETURNS bigint LANGUAGE sql AS $f$
  SELECT sweep_stopping(1000000, false) + sweep_blocked(1000000, false) + sweep_storeless(1000000, false) + gather_crawl_events(1000000)
       + sweep_notifications(1000000)
       + (SELECT s.swept FROM sweep_stores(NULL, 1000000, false) s)
$f$;
