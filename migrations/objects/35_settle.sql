-- Ends one run. Only the holder of (id, fence, worker_id) may write it, and only within its lease.

-- Locks the row of a run, which goes on to hold its lease until the transaction ends. A run that is not held any more is no_data_found; a
-- row that another session keeps locked for a second is lock_not_available: try again. A run that keeps a part of its work before its end
-- calls it last in that transaction.
CREATE OR REPLACE FUNCTION lock_run(held_id bigint, held_fence bigint, held_worker text) RETURNS worker_tasks LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
SET lock_timeout = '1s' AS $f$
DECLARE
  active CONSTANT text[] := ARRAY['claimed', 'running'];
  task worker_tasks;
BEGIN
  SELECT * INTO task
    FROM worker_tasks t
   WHERE t.id = held_id AND t.fence = held_fence AND t.worker_id = held_worker AND t.status = ANY (active)
     AND t.lease_expires_at > clock_timestamp()
     FOR UPDATE;
  IF NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = format('a lease of task %s with fence %s for %s', held_id, held_fence, held_worker);
  END IF;
  RETURN task;
END $f$;

-- `settlement` is {outcome, result, error, retry_after, snooze_limit, waits_for_host, detail}, with times in seconds. The outcome is
-- 'completed', 'cancelled', 'failed' (retried while retries are left), 'permanent', 'snoozed' or 'released'. A snoozed task that waits for
-- a host is due when the host's breaker closes; if it has closed already, the task is due within a second. Returns the task's new status.
-- The caller makes this call last in the transaction that holds the run's effects: a run that is not held any more is no_data_found, so
-- that nothing is written. A row that another session keeps locked for a second is lock_not_available: try again.
DROP FUNCTION IF EXISTS settle_task(bigint, bigint, text, text, jsonb, text, interval, interval, jsonb);
CREATE OR REPLACE FUNCTION settle_task(held_id bigint, held_fence bigint, held_worker text, settlement jsonb) RETURNS text
LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  task worker_tasks;
  outcome text := settlement->>'outcome';
  error text := settlement->>'error';
  attempt_detail jsonb := nullif(settlement->'detail', 'null');
  retry_at timestamptz := clock_timestamp() + make_interval(secs => (settlement->>'retry_after')::float8);
  awaited CONSTANT text := settlement->>'waits_for_host';   -- a host
  new_status text;
  is_ready boolean;
BEGIN
  IF awaited IS NOT NULL AND (SELECT h.breaker = 'closed' FROM hosts h WHERE h.host = awaited FOR SHARE) IS NOT FALSE THEN
    retry_at := least(retry_at, clock_timestamp() + interval '1 second');
  END IF;
  task := lock_run(held_id, held_fence, held_worker);
  IF outcome = 'snoozed' AND task.snoozed_since < now() - make_interval(secs => (settlement->>'snooze_limit')::float8) THEN
    outcome := 'failed';
    error := 'snoozed for too long: ' || left(error, 2000);   -- maximum 8 KiB, whatever the characters
  END IF;
  new_status := CASE WHEN outcome IN ('completed', 'cancelled') THEN outcome
                     WHEN outcome = 'permanent' OR outcome = 'failed' AND task.retry_count >= task.max_retries THEN 'failed'
                     ELSE 'pending' END;
  IF new_status = 'pending' THEN
    PERFORM keep_attempts(ARRAY[held_id], outcome, error, attempt_detail);
    is_ready := outcome = 'released' AND task.dispensary_id IS NULL AND NOT task.blocked AND is_due(task.scheduled_for);
    UPDATE worker_tasks t
       SET status = 'pending', worker_id = NULL, claim_token = NULL, claimed_at = NULL, started_at = NULL, last_heartbeat_at = NULL,
           lease_expires_at = NULL, detail = NULL, updated_at = clock_timestamp(), error_message = error, ready = is_ready,
           retry_count = t.retry_count + (outcome = 'failed')::int, waits_for_host = awaited,
           scheduled_for = CASE outcome WHEN 'released' THEN t.scheduled_for ELSE greatest(t.scheduled_for, retry_at) END,
           snoozed_since = CASE outcome WHEN 'snoozed' THEN coalesce(t.snoozed_since, clock_timestamp())
                                        WHEN 'released' THEN t.snoozed_since END
     WHERE t.id = held_id;
  ELSE
    UPDATE worker_tasks t
       SET status = new_status, completed_at = clock_timestamp(), updated_at = clock_timestamp(),
           result = nullif(settlement->'result', 'null'), error_message = error, detail = attempt_detail, dedup_key = NULL,
           snoozed_since = NULL,
           loss_count = CASE new_status WHEN 'completed' THEN 0 ELSE t.loss_count END,
           crash_count = CASE new_status WHEN 'completed' THEN 0 ELSE t.crash_count END
     WHERE t.id = held_id;
  END IF;
  IF promote_stores(ARRAY[task.dispensary_id]) > 0 OR is_ready THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN new_status;
END $f$;

-- Completes a run and starts the one task that it chained, in the same slot: the new task is never pending, and takes over its store's
-- reservation. `settlement` is {result, detail}; `spec` is a task as in enqueue_tasks, due now and of the same store. Returns the new
-- task's id; null if the store is paused, or another task of it is active or ready (written by hand): then the new one waits like any other
-- chained task. Otherwise the same as settle_task.
CREATE OR REPLACE FUNCTION complete_and_start(held_id bigint, held_fence bigint, held_worker text, settlement jsonb, spec jsonb,
                                              lease interval, OUT started bigint)
LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  active CONSTANT text[] := ARRAY['claimed', 'running'];
  start_time timestamptz := clock_timestamp();
BEGIN
  -- as for a claim: a server that lost the fence would give it out twice
  PERFORM commit_synchronously();
  UPDATE worker_tasks t
     SET status = 'completed', completed_at = start_time, updated_at = start_time, result = nullif(settlement->'result', 'null'),
         error_message = NULL, detail = nullif(settlement->'detail', 'null'), dedup_key = NULL, snoozed_since = NULL, loss_count = 0,
         crash_count = 0
   WHERE t.id = held_id AND t.fence = held_fence AND t.worker_id = held_worker AND t.status = ANY (active)
     AND t.lease_expires_at > start_time;
  IF NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = format('a lease of task %s with fence %s for %s', held_id, held_fence, held_worker);
  END IF;
  INSERT INTO worker_tasks (role, dispensary_id, platform, account, priority, payload, dedup_key, parent_task_id, status, ready, worker_id,
                            fence, claimed_at, started_at, last_heartbeat_at, lease_expires_at, family, notifies)
  SELECT s.role, s.dispensary_id, s.platform, s.account, s.priority, s.payload, s.dedup_key, s.parent_task_id, 'running', false,
         held_worker, 1, start_time, start_time, start_time, start_time + lease, k.family, k.notifies
    FROM jsonb_to_record(spec) AS s(role text, dispensary_id bigint, platform text, account text, priority int, payload jsonb,
                                    dedup_key text, parent_task_id bigint)
    LEFT JOIN task_kinds k ON k.name = s.role
   WHERE NOT EXISTS (SELECT FROM paused_stores p WHERE p.dispensary_id = s.dispensary_id)
  ON CONFLICT DO NOTHING
  RETURNING id INTO started;
  IF started IS NULL THEN
    PERFORM enqueue_tasks(jsonb_build_array(spec));
  END IF;
END $f$;

-- The tasks of `specs` (as in enqueue_tasks) with their keys, each key once: of several with the same key the first counts. A job that
-- brings no key has that of jobs (job_key). Two with one key and different arguments would silently become one: check_violation.
CREATE OR REPLACE FUNCTION distinct_children(specs jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $f$
DECLARE
  children jsonb;
  ambiguous text;   -- a key
BEGIN
  SELECT jsonb_agg(c.spec ORDER BY c.ord) FILTER (WHERE c.place = 1 OR c.key IS NULL),
         min(c.key) FILTER (WHERE c.args IS DISTINCT FROM c.first_args)
    INTO children, ambiguous
    FROM (SELECT k.ord, k.key, k.args, row_number() OVER same_key AS place, first_value(k.args) OVER same_key AS first_args,
                 CASE WHEN k.key IS NULL THEN k.spec ELSE k.spec || jsonb_build_object('dedup_key', k.key) END AS spec
            FROM (SELECT e.ord, e.spec, coalesce(e.spec->'payload', '{}') AS args,
                         coalesce(e.spec->>'dedup_key', job_key(e.spec->>'role', e.spec->>'platform', e.spec->>'account',
                                                                coalesce(e.spec->'payload', '{}'))) AS key
                    FROM jsonb_array_elements(specs) WITH ORDINALITY AS e(spec, ord)) k
          WINDOW same_key AS (PARTITION BY k.key ORDER BY k.ord)) c;
  IF ambiguous IS NOT NULL THEN
    RAISE check_violation USING MESSAGE = format('two children have the key %s and different arguments', ambiguous);
  END IF;
  RETURN children;
END $f$;

-- Makes the tasks of `specs` and returns their ids in that order. An open task that has the key of one is adopted: its id is returned, and
-- the task is not made again. If keys are taken faster than they are looked up: serialization_failure, try again.
CREATE OR REPLACE FUNCTION make_children(specs jsonb) RETURNS bigint[] LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  max_tries CONSTANT int := 3;
  children jsonb := distinct_children(specs);
  adopted bigint[];   -- by place in `children`; null: to be made
  made bigint[];
BEGIN
  FOR try IN 1 .. max_tries LOOP
    adopted := ARRAY (
      SELECT (SELECT t.id FROM worker_tasks t WHERE t.dedup_key = e.spec->>'dedup_key')
        FROM jsonb_array_elements(children) WITH ORDINALITY AS e(spec, ord)
       ORDER BY e.ord);
    BEGIN
      made := enqueue_tasks((SELECT coalesce(jsonb_agg(e.spec ORDER BY e.ord), '[]')
                               FROM jsonb_array_elements(children) WITH ORDINALITY AS e(spec, ord)
                              WHERE adopted[e.ord] IS NULL));
      EXIT;
    EXCEPTION WHEN unique_violation THEN   -- a key was taken since it was looked up
      IF try = max_tries THEN
        RAISE serialization_failure USING MESSAGE = 'other tasks with the same keys are being queued; try again';
      END IF;
    END;
  END LOOP;
  RETURN ARRAY (
    SELECT coalesce(adopted[p.ord], made[p.place])
      FROM (SELECT o.ord, count(*) FILTER (WHERE adopted[o.ord] IS NULL) OVER (ORDER BY o.ord) AS place
              FROM generate_series(1, cardinality(adopted)) AS o(ord)) p
     ORDER BY p.ord);
END $f$;

-- Ends a run that waits for its children (make_children), as `waiting` and at no cost; returns their ids. Its task is blocked until all of
-- them have ended, however they did, and runs again. The caller makes this call last in the transaction that holds the run's effects; its
-- errors are those of lock_run. A child that would wait for the task in turn is a check_violation.
CREATE OR REPLACE FUNCTION await_children(held_id bigint, held_fence bigint, held_worker text, specs jsonb, attempt_detail jsonb)
RETURNS bigint[] LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  children bigint[] := make_children(specs);
  task worker_tasks := lock_run(held_id, held_fence, held_worker);
BEGIN
  task.depends_on := children;
  PERFORM refuse_cycle(task);
  PERFORM keep_attempts(ARRAY[held_id], 'waiting', NULL, nullif(attempt_detail, 'null'));
  UPDATE worker_tasks t
     SET status = 'pending', ready = false, blocked = true, depends_on = children, depends_policy = 'run', awaits_children = true,
         worker_id = NULL, claim_token = NULL, claimed_at = NULL, started_at = NULL, last_heartbeat_at = NULL, lease_expires_at = NULL,
         detail = NULL, error_message = NULL, waits_for_host = NULL, progress_percent = NULL, progress_message = NULL,
         snoozed_since = NULL, loss_count = 0, crash_count = 0, updated_at = clock_timestamp()
   WHERE t.id = held_id;
  IF promote_stores(ARRAY[task.dispensary_id]) > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN children;
END $f$;
