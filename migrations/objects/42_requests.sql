-- Changes tasks at the request of a user or a program. Each function moves the store's reservation in its own transaction, and is the same
-- for psql, the API and the command line. It returns the status that the task had (`was`), and, if it did nothing, the reason (`refusal`):
-- 'status' (a task with that status cannot be changed in this way), 'twin' (`other` does the same and is open), 'depended' (`other` waits
-- for it) or 'version' (it was changed since). A task that does not exist is no_data_found; one whose row another session keeps locked for
-- a second is lock_not_available: try again.

-- Locks a task's row. The key stays free, so that a payload may refer to its task meanwhile.
CREATE OR REPLACE FUNCTION lock_task(asked bigint) RETURNS worker_tasks LANGUAGE plpgsql AS $f$
DECLARE task worker_tasks;
BEGIN
  SELECT * INTO task FROM worker_tasks t WHERE t.id = asked FOR NO KEY UPDATE;
  IF NOT FOUND THEN RAISE no_data_found USING MESSAGE = format('task %s', asked); END IF;
  RETURN task;
END $f$;

-- Cancels the open tasks that a task made and waits for. Adopted tasks were made by others, and go on; so do its follow-ups.
CREATE OR REPLACE FUNCTION cancel_children(parent bigint) RETURNS void LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  open CONSTANT text[] := ARRAY['pending', 'claimed', 'running'];
  awaited bigint[] := (SELECT t.depends_on FROM worker_tasks t WHERE t.id = parent);
  children bigint[] := ARRAY (SELECT t.id FROM worker_tasks t
                               WHERE t.parent_task_id = parent AND t.status = ANY (open) AND t.id = ANY (awaited));
  child bigint;
BEGIN
  FOR child IN SELECT c.id FROM unnest(children) AS c(id) ORDER BY c.id LOOP
    PERFORM cancel_task(child, format('cancelled with task %s, which made it', parent));
  END LOOP;
END $f$;

-- Cancels a task that has not ended, and the children that it made and waits for. A worker that has it finds its lease lost at the next
-- renewal and stops the body; until then, its store is kept (stopping_runs). A task that is cancelled already stays as it is.
CREATE OR REPLACE FUNCTION cancel_task(asked bigint, reason text DEFAULT 'cancelled by request', OUT was text, OUT refusal text)
LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE task worker_tasks := lock_task(asked);
BEGIN
  was := task.status;
  IF was = 'cancelled' THEN RETURN; END IF;
  IF was IN ('completed', 'failed') THEN
    refusal := 'status';
    RETURN;
  END IF;
  PERFORM note_stopping_run(task);
  UPDATE worker_tasks t
     SET status = 'cancelled', ready = false, blocked = false, completed_at = clock_timestamp(), updated_at = clock_timestamp(),
         error_message = left(reason, 2000), dedup_key = NULL, snoozed_since = NULL
   WHERE t.id = asked;
  IF task.awaits_children THEN PERFORM cancel_children(asked); END IF;
  IF promote_stores(ARRAY[task.dispensary_id]) > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
END $f$;

-- Records that the body of a run that is not held any more has stopped: if its task was cancelled, the store is free now. False if the task
-- was not cancelled, or if this was recorded before.
CREATE OR REPLACE FUNCTION run_stopped(stopped_id bigint, stopped_fence bigint, stopped_worker text) RETURNS boolean LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE store bigint;
BEGIN
  DELETE FROM stopping_runs s
   WHERE s.task_id = stopped_id AND s.fence = stopped_fence AND s.worker_id = stopped_worker
  RETURNING s.dispensary_id INTO store;
  IF NOT FOUND THEN RETURN false; END IF;
  IF promote_stores(ARRAY[store]) > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN true;
END $f$;

-- True if a task must wait for the tasks in `depends_on`: one is open, and none has failed that would cancel it.
CREATE OR REPLACE FUNCTION must_wait(task worker_tasks) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT coalesce(bool_or(w.status IN ('pending', 'claimed', 'running'))
                  AND NOT bool_or(w.status IN ('failed', 'cancelled') AND task.depends_policy = 'cancel'), false)
    FROM worker_tasks w
   WHERE w.id = ANY (task.depends_on)
$f$;

-- Puts a failed or cancelled task back to pending, with all of its retries, at its old time or, if that has passed, at once. Its runs stay
-- as history. A task that ended because another one failed does not wait for that one any more. One that has waited for children begins
-- from the start and makes them again; those that are still open it adopts.
CREATE OR REPLACE FUNCTION retry_task(asked bigint, OUT was text, OUT refusal text, OUT other bigint) LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  task worker_tasks := lock_task(asked);
  waits boolean;
  key text;
BEGIN
  was := task.status;
  IF was NOT IN ('failed', 'cancelled') THEN
    refusal := 'status';
    RETURN;
  END IF;
  other := open_twin(task.role, task.dispensary_id, task.platform, task.account, task.payload);
  IF other IS NOT NULL THEN
    refusal := 'twin';
    RETURN;
  END IF;
  IF task.awaits_children THEN task.depends_on := NULL; END IF;
  waits := must_wait(task);
  -- the key of a request for the same work: of two at once, one is refused
  key := CASE WHEN task.dispensary_id IS NOT NULL THEN concat_ws(':', task.role, task.dispensary_id, task.payload->>'payload_id')
              ELSE job_key(task.role, task.platform, task.account, task.payload) END;
  BEGIN
    PERFORM keep_last_run(task);
    UPDATE worker_tasks t
       SET status = 'pending', blocked = waits, ready = t.dispensary_id IS NULL AND NOT waits AND is_due(t.scheduled_for),
           depends_on = task.depends_on, awaits_children = false,
           dedup_key = key, retry_count = 0, loss_count = 0, crash_count = 0, snoozed_since = NULL, worker_id = NULL, claim_token = NULL,
           claimed_at = NULL, started_at = NULL, completed_at = NULL, last_heartbeat_at = NULL, lease_expires_at = NULL, detail = NULL,
           result = NULL, error_message = NULL, progress_percent = NULL, progress_message = NULL, updated_at = clock_timestamp()
     WHERE t.id = asked;
  EXCEPTION WHEN unique_violation THEN
    refusal := 'twin';
    other := (SELECT t.id FROM worker_tasks t WHERE t.dedup_key = key);
    RETURN;
  END;
  PERFORM review_reservations(ARRAY[task.dispensary_id]);
  PERFORM pg_notify('drover_tasks', '');
END $f$;

-- Deletes a task that no worker has, with its runs. A task that others wait for stays, unless it has completed: a deleted task counts as
-- completed. So does a task that waits for its children: they would go on without it.
CREATE OR REPLACE FUNCTION delete_task(asked bigint, OUT was text, OUT refusal text, OUT other bigint) LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE task worker_tasks;
BEGIN
  -- the lock that DELETE takes, which would otherwise have to wait for a lock of the key
  PERFORM FROM worker_tasks t WHERE t.id = asked FOR UPDATE;
  task := lock_task(asked);
  was := task.status;
  IF was IN ('claimed', 'running') OR was = 'pending' AND task.blocked AND task.awaits_children THEN
    refusal := 'status';
    RETURN;
  END IF;
  IF was <> 'completed' THEN
    other := (SELECT t.id FROM worker_tasks t
               WHERE t.status = 'pending' AND t.blocked AND asked = ANY (t.depends_on)
               ORDER BY t.dispensary_id, t.role LIMIT 1);
    IF other IS NOT NULL THEN
      refusal := 'depended';
      RETURN;
    END IF;
  END IF;
  DELETE FROM worker_tasks t WHERE t.id = asked;
  IF task.ready AND promote_stores(ARRAY[task.dispensary_id]) > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
END $f$;

-- Changes the priority or the time of a pending task. `change` is {priority, scheduled_for}: an absent field stays as it is, a time of null
-- means at once. With `expected`, the task is changed only if that is its `updated_at`.
CREATE OR REPLACE FUNCTION change_task(asked bigint, change jsonb, expected timestamptz DEFAULT NULL, OUT was text, OUT refusal text)
LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  task worker_tasks := lock_task(asked);
  new_time timestamptz := task.scheduled_for;
BEGIN
  was := task.status;
  IF task.updated_at <> expected THEN
    refusal := 'version';
    RETURN;
  END IF;
  IF was <> 'pending' THEN
    refusal := 'status';
    RETURN;
  END IF;
  IF change ? 'scheduled_for' THEN new_time := (change->>'scheduled_for')::timestamptz; END IF;
  -- the task gives up its reservation, and gets it back if no other task of the store should have it now
  UPDATE worker_tasks t
     SET priority = coalesce((change->>'priority')::int, t.priority), scheduled_for = new_time, updated_at = clock_timestamp(),
         ready = t.dispensary_id IS NULL AND NOT t.blocked AND is_due(new_time)
   WHERE t.id = asked;
  PERFORM review_reservations(ARRAY[task.dispensary_id]);
  PERFORM pg_notify('drover_tasks', '');
END $f$;

-- Makes a waiting task as urgent as a request for the same work, and due as early; `to_time` null means at once. False if it is as urgent
-- already, does not wait any more, or has a row that another session has locked: then it is being claimed or settled.
CREATE OR REPLACE FUNCTION raise_task(asked bigint, to_priority int, to_time timestamptz) RETURNS boolean LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  pending CONSTANT text := 'pending';
  old_time timestamptz;
BEGIN
  SELECT t.scheduled_for INTO old_time
    FROM worker_tasks t
   WHERE t.id = asked AND t.status = pending AND t.priority < to_priority
     FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM change_task(asked, jsonb_build_object('priority', to_priority,
                                                'scheduled_for', CASE WHEN to_time < old_time THEN to_time
                                                                      WHEN to_time IS NOT NULL THEN old_time END));
  RETURN true;
END $f$;

-- Changes each of these tasks, in the order of their ids, by `action`: 'cancel', 'retry', 'delete' or 'reprioritize' (to the priority in
-- `change`). The result of a task that cannot be changed has its refusal, which may also be 'missing', 'locked' or an error; such a task
-- holds up no other.
CREATE OR REPLACE FUNCTION change_tasks(action text, ids bigint[], change jsonb)
RETURNS TABLE (task_id bigint, was text, refusal text, other bigint) LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off AS $f$
BEGIN
  FOR task_id IN SELECT DISTINCT asked.id FROM unnest(ids) AS asked(id) ORDER BY asked.id LOOP
    was := NULL;
    refusal := NULL;
    other := NULL;
    PERFORM FROM worker_tasks t WHERE t.id = task_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      refusal := CASE WHEN EXISTS (SELECT FROM worker_tasks t WHERE t.id = task_id) THEN 'locked' ELSE 'missing' END;
      RETURN NEXT;
      CONTINUE;
    END IF;
    BEGIN
      CASE action
        WHEN 'cancel' THEN SELECT c.was, c.refusal INTO was, refusal FROM cancel_task(task_id) c;
        WHEN 'retry' THEN SELECT c.was, c.refusal, c.other INTO was, refusal, other FROM retry_task(task_id) c;
        WHEN 'delete' THEN SELECT c.was, c.refusal, c.other INTO was, refusal, other FROM delete_task(task_id) c;
        WHEN 'reprioritize' THEN SELECT c.was, c.refusal INTO was, refusal FROM change_task(task_id, change) c;
      END CASE;
    EXCEPTION
      WHEN lock_not_available THEN refusal := 'locked';
      WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
        refusal := left(SQLERRM, 500);
    END;
    RETURN NEXT;
  END LOOP;
END $f$;
