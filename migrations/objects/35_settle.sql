-- Ends one run. Only the holder of (id, fence, worker_id) may write it, and only within its lease.

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
  active CONSTANT text[] := ARRAY['claimed', 'running'];
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
  SELECT * INTO task
    FROM worker_tasks t
   WHERE t.id = held_id AND t.fence = held_fence AND t.worker_id = held_worker AND t.status = ANY (active)
     AND t.lease_expires_at > clock_timestamp()
     FOR UPDATE;
  IF NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = format('a lease of task %s with fence %s for %s', held_id, held_fence, held_worker);
  END IF;
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
  INSERT INTO worker_tasks (role, dispensary_id, platform, priority, payload, parent_task_id, status, ready, worker_id, fence,
                            claimed_at, started_at, last_heartbeat_at, lease_expires_at)
  SELECT s.role, s.dispensary_id, s.platform, s.priority, s.payload, s.parent_task_id, 'running', false, held_worker, 1,
         start_time, start_time, start_time, start_time + lease
    FROM jsonb_to_record(spec) AS s(role text, dispensary_id bigint, platform text, priority int, payload jsonb, parent_task_id bigint)
   WHERE NOT EXISTS (SELECT FROM paused_stores p WHERE p.dispensary_id = s.dispensary_id)
  ON CONFLICT DO NOTHING
  RETURNING id INTO started;
  IF started IS NULL THEN
    PERFORM enqueue_tasks(jsonb_build_array(spec));
  END IF;
END $f$;
