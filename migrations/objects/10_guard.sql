-- Functions of the triggers in 15_triggers.sql: they complete and correct rows that operators write at psql. drover's own functions write
-- complete rows; they run with the setting xmlbinary = hex, which disables these triggers. The mark is not a parameter of
-- drover's own: only a superuser may create a function that sets a parameter which Postgres does not know. xmlbinary has no effect here, as
-- drover stores no XML.

-- The current name of a role. `product_resync` is an old role, which fetched and refreshed: with a payload_id among its arguments it is
-- product_refresh now, otherwise payload_fetch.
CREATE OR REPLACE FUNCTION current_role_name(role text, args jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $f$
  SELECT CASE WHEN role <> 'product_resync' THEN role
              WHEN args ? 'payload_id' THEN 'product_refresh'
              ELSE 'payload_fetch' END
$f$;

-- Clears the worker and the data of an earlier run: a pending task has neither.
CREATE OR REPLACE FUNCTION worker_tasks_unowned(task worker_tasks) RETURNS worker_tasks LANGUAGE plpgsql AS $f$
BEGIN
  task.worker_id := NULL;
  task.claim_token := NULL;
  task.claimed_at := NULL;
  task.started_at := NULL;
  task.completed_at := NULL;
  task.last_heartbeat_at := NULL;
  task.lease_expires_at := NULL;
  task.detail := NULL;
  RETURN task;
END $f$;

-- Completes an ended task: it has the time of its end, and no dedup key.
CREATE OR REPLACE FUNCTION worker_tasks_ended(task worker_tasks) RETURNS worker_tasks LANGUAGE plpgsql AS $f$
BEGIN
  IF task.status IN ('completed', 'failed', 'cancelled') THEN
    task.dedup_key := NULL;
    task.completed_at := coalesce(task.completed_at, now());
  END IF;
  RETURN task;
END $f$;

-- Records the run of a cancelled task, which goes on until its worker notices: until then the store is kept for it (stopping_runs). The
-- heartbeats of all workers are notified. A run whose lease has expired has stopped already.
CREATE OR REPLACE FUNCTION note_stopping_run(task worker_tasks) RETURNS void LANGUAGE sql AS $f$
  INSERT INTO stopping_runs (task_id, fence, worker_id, dispensary_id, lease_expires_at)
  SELECT task.id, task.fence, task.worker_id, task.dispensary_id, task.lease_expires_at
   WHERE task.status IN ('claimed', 'running') AND task.worker_id IS NOT NULL
     AND task.lease_expires_at > clock_timestamp() AND isfinite(task.lease_expires_at)
  ON CONFLICT DO NOTHING;
  SELECT pg_notify('drover_cancels', '') WHERE task.status IN ('claimed', 'running')
$f$;

-- Copies the last run of an ended task to past_attempts, before the task begins again.
CREATE OR REPLACE FUNCTION keep_last_run(task worker_tasks) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  INSERT INTO past_attempts (task_id, fence, worker_id, outcome, claimed_at, finished_at, error, detail)
  SELECT a.task_id, a.fence, a.worker_id, a.outcome, a.claimed_at, a.finished_at, a.error, a.detail
    FROM task_attempts a
   WHERE a.task_id = task.id AND a.fence = task.fence AND a.worker_id IS NOT NULL
  ON CONFLICT DO NOTHING;
  -- one payload per task: the old payload keeps its store and loses its task, so that the next run can insert its own
  UPDATE raw_crawl_payloads SET task_id = NULL WHERE task_id = task.id;
END $f$;

CREATE OR REPLACE FUNCTION worker_tasks_guard_insert() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM refuse_cycle(NEW);
  NEW.role := current_role_name(NEW.role, NEW.payload);
  NEW.ready := false;   -- worker_tasks_take_reservations or the sweep makes it true
  NEW.blocked := NEW.status = 'pending' AND cardinality(NEW.depends_on) > 0 IS TRUE;
  IF NEW.status = 'pending' THEN RETURN worker_tasks_unowned(NEW); END IF;
  RETURN worker_tasks_ended(NEW);
END $f$;

-- Gives free reservations at once to a few tasks that were inserted by hand: `claim_task` returns them in the next statement, in the order
-- of their priorities. Many tasks would block the sweep for as long as the session does not commit; they wait for the sweep, or for a
-- `claim_task` that finds nothing else.
CREATE OR REPLACE FUNCTION worker_tasks_take_reservations() RETURNS trigger LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
BEGIN
  PERFORM FROM made OFFSET 10 LIMIT 1;
  IF FOUND THEN RETURN NULL; END IF;
  PERFORM make_ready(ARRAY (
    SELECT m.id FROM made m
     WHERE m.dispensary_id IS NULL AND m.status = 'pending' AND NOT m.blocked AND is_due(m.scheduled_for)));
  PERFORM review_reservations(ARRAY (
    SELECT DISTINCT m.dispensary_id FROM made m WHERE m.dispensary_id IS NOT NULL AND m.status = 'pending'));
  PERFORM pg_notify('drover_tasks', '');
  RETURN NULL;
END $f$;

CREATE OR REPLACE FUNCTION worker_tasks_guard_status() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.updated_at := now();
  IF OLD.status IN ('claimed', 'running') AND NEW.status = 'pending' THEN
    PERFORM keep_attempts(ARRAY[OLD.id], 'lost', NULL, NULL);
  ELSIF OLD.status IN ('completed', 'failed', 'cancelled') AND NEW.status IN ('pending', 'claimed', 'running') THEN
    PERFORM keep_last_run(OLD);
  ELSIF NEW.status = 'cancelled' THEN
    PERFORM note_stopping_run(OLD);
  END IF;
  NEW.ready := false;
  IF NEW.status = 'pending' THEN
    IF OLD.status IN ('completed', 'failed', 'cancelled') THEN   -- an ended task that begins again: its losses are forgotten
      NEW.loss_count := 0;
      NEW.crash_count := 0;
      NEW.snoozed_since := NULL;
      IF OLD.awaits_children THEN   -- and it makes its children again
        NEW.depends_on := NULL;
        NEW.awaits_children := false;
      END IF;
    END IF;
    RETURN worker_tasks_unowned(NEW);
  END IF;
  NEW.blocked := false;
  IF OLD.status NOT IN ('claimed', 'running') AND NEW.status IN ('claimed', 'running') THEN   -- claimed by hand: a new run
    NEW.fence := greatest(NEW.fence, OLD.fence + 1);
    NEW.worker_id := coalesce(NEW.worker_id, session_user);
    NEW.claimed_at := CASE WHEN NEW.claimed_at IS DISTINCT FROM OLD.claimed_at THEN NEW.claimed_at ELSE now() END;
    NEW.claim_token := NULL;
    NEW.completed_at := NULL;
    NEW.result := NULL;
    NEW.error_message := NULL;
    NEW.detail := NULL;
  END IF;
  RETURN worker_tasks_ended(NEW);
END $f$;

-- A task that was cancelled by hand takes the children with it that it made (cancel_task does the same). After the statement, which may
-- cancel them, too.
CREATE OR REPLACE FUNCTION worker_tasks_cancel_children() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM cancel_children(OLD.id);
  RETURN NULL;
END $f$;

-- Corrects a pending task whose time, store, role or priority was changed by hand. The task may lose its reservation here, but never gains
-- one: the sweep gives reservations.
CREATE OR REPLACE FUNCTION worker_tasks_guard_pending() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.updated_at := now();
  NEW.role := current_role_name(NEW.role, NEW.payload);
  NEW.ready := NEW.ready AND OLD.ready AND is_due(NEW.scheduled_for) AND NEW.dispensary_id IS NOT DISTINCT FROM OLD.dispensary_id;
  RETURN NEW;
END $f$;

-- Keeps the name of a worker that leaves the registry: its tasks still show it.
CREATE OR REPLACE FUNCTION worker_registry_keep_names() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  INSERT INTO worker_names (worker_id, friendly_name) SELECT g.worker_id, g.friendly_name FROM gone g ORDER BY g.worker_id
  ON CONFLICT (worker_id) DO UPDATE SET friendly_name = excluded.friendly_name, left_at = now();
  RETURN NULL;
END $f$;

-- Refuses a task that waits for itself, directly or through other pending tasks: it would wait for ever.
CREATE OR REPLACE FUNCTION refuse_cycle(task worker_tasks) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  IF cardinality(task.depends_on) > 0 IS NOT TRUE THEN RETURN; END IF;
  PERFORM FROM (
    WITH RECURSIVE waited_for (id) AS (
      SELECT unnest(task.depends_on)
      UNION
      SELECT unnest(t.depends_on) FROM waited_for w JOIN worker_tasks t ON t.id = w.id AND t.status = 'pending')
    SELECT id FROM waited_for) w
   WHERE w.id = task.id;
  IF FOUND THEN
    RAISE check_violation USING MESSAGE = format('task %s would wait for itself: depends_on makes a circle', task.id);
  END IF;
END $f$;

-- Corrects a task whose dependencies were changed by hand. If all of them have ended, sweep_blocked unblocks it.
CREATE OR REPLACE FUNCTION worker_tasks_guard_dependencies() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF NEW.depends_on IS NOT DISTINCT FROM OLD.depends_on THEN RETURN NEW; END IF;
  PERFORM refuse_cycle(NEW);
  NEW.blocked := cardinality(NEW.depends_on) > 0 IS TRUE;
  NEW.ready := NEW.ready AND NOT NEW.blocked;
  RETURN NEW;
END $f$;

-- past_attempts has no foreign key: every deletion of tasks deletes their attempts here.
CREATE OR REPLACE FUNCTION worker_tasks_forget_attempts() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  DELETE FROM past_attempts a USING gone WHERE a.task_id = gone.id;
  RETURN NULL;
END $f$;

-- Fills the key of a menu's URL that was written without one: at psql, or by a process of the release before.
CREATE OR REPLACE FUNCTION dispensaries_fill_menu_key() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF NEW.menu_key IS NULL THEN
    NEW.menu_key := menu_entry(NEW.menu_url);
  ELSIF TG_OP = 'UPDATE' AND NEW.menu_key IS NOT DISTINCT FROM OLD.menu_key THEN
    -- the URL may be another one of the same store
    NEW.menu_key := coalesce(menu_entry(NEW.menu_url),
                             CASE WHEN strpos(NEW.menu_url, NEW.menu_key) > 0 THEN NEW.menu_key END);
  END IF;
  RETURN NEW;
END $f$;

-- Keeps the slugs that a store had, from its slug and its menu's URL: the last 20.
CREATE OR REPLACE FUNCTION dispensaries_keep_former_slugs() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  INSERT INTO former_slugs (slug, dispensary_id)
  SELECT DISTINCT former.slug, NEW.id
    FROM unnest(ARRAY[lower(OLD.slug), lower(OLD.menu_key)]) AS former(slug)
   WHERE former.slug IS NOT NULL
     AND former.slug <> ALL (array_remove(ARRAY[lower(NEW.slug), lower(NEW.menu_key)], NULL))
      ON CONFLICT (slug, dispensary_id) DO UPDATE SET replaced_at = now();
  DELETE FROM former_slugs f
   WHERE f.dispensary_id = NEW.id
     AND f.replaced_at < (SELECT k.replaced_at FROM former_slugs k WHERE k.dispensary_id = NEW.id
                           ORDER BY k.replaced_at DESC OFFSET 19 LIMIT 1);
  RETURN NULL;
END $f$;

-- Products and their variants have no foreign keys either, because every refresh writes them: every deletion of stores or products deletes
-- them here.
CREATE OR REPLACE FUNCTION dispensaries_forget_products() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  DELETE FROM store_products p USING gone WHERE p.dispensary_id = gone.id;
  DELETE FROM store_specials s USING gone WHERE s.dispensary_id = gone.id;
  DELETE FROM store_attributes a USING gone WHERE a.dispensary_id = gone.id;
  RETURN NULL;
END $f$;

CREATE OR REPLACE FUNCTION store_products_forget_variants() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  DELETE FROM store_product_variants v USING gone WHERE v.store_product_id = gone.id;
  RETURN NULL;
END $f$;

-- A schedule that was written by hand gets the current name of its role, and its own current name. If its recurrence (interval, cron
-- line or time zone) was changed, next_run_at becomes a time that is too far away: the program replaces such a time by the next one of the recurrence
-- (schedules/correct_next_run.sql), since SQL cannot read a cron line.
CREATE OR REPLACE FUNCTION task_schedules_guard() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.role := current_role_name(NEW.role, NEW.args);
  NEW.state_code := upper(NEW.state_code);
  IF NEW.name = 'product_refresh_all' THEN NEW.name := 'payload_fetch_all'; END IF;   -- its old name
  IF TG_OP = 'INSERT' OR NEW.next_run_at IS DISTINCT FROM OLD.next_run_at OR NEW.next_run_at <= now() OR NEW.next_run_at IS NULL
     OR (NEW.interval_hours, NEW.cron, NEW.time_zone) IS NOT DISTINCT FROM (OLD.interval_hours, OLD.cron, OLD.time_zone) THEN
    RETURN NEW;
  END IF;
  NEW.next_run_at := now() + interval '100 years';
  RETURN NEW;
END $f$;

-- Clears the disabled_reason of a store that an operator disabled. Discovery enables stores again that have a disabled_reason, which only
-- discovery writes: this store must have none.
CREATE OR REPLACE FUNCTION dispensaries_guard_off() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.disabled_reason := NULL;
  RETURN NEW;
END $f$;
