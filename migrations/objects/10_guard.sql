-- Keeps rows true that people write at psql. drover's own functions run with drover.own = on and keep all of this true themselves.

-- A role by the name it once had: `product_resync` fetched and processed; by its arguments it is now one or the other.
CREATE OR REPLACE FUNCTION current_role_name(role text, args jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $f$
  SELECT CASE WHEN role <> 'product_resync' THEN role
              WHEN args ? 'payload_id' THEN 'product_refresh'
              ELSE 'payload_fetch' END
$f$;

-- A pending task has no worker.
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

-- An ended task has a time of its end and no dedup key.
CREATE OR REPLACE FUNCTION worker_tasks_ended(task worker_tasks) RETURNS worker_tasks LANGUAGE plpgsql AS $f$
BEGIN
  IF task.status IN ('completed', 'failed', 'cancelled') THEN
    task.dedup_key := NULL;
    task.completed_at := coalesce(task.completed_at, now());
  END IF;
  RETURN task;
END $f$;

CREATE OR REPLACE FUNCTION worker_tasks_guard_insert() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.role := current_role_name(NEW.role, NEW.payload);
  NEW.ready := false;   -- the sweep gives the store's reservation
  NEW.blocked := NEW.status = 'pending' AND cardinality(NEW.depends_on) > 0 IS TRUE;
  IF NEW.status = 'pending' THEN RETURN worker_tasks_unowned(NEW); END IF;
  RETURN worker_tasks_ended(NEW);
END $f$;

CREATE OR REPLACE FUNCTION worker_tasks_guard_status() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.updated_at := now();
  IF OLD.status IN ('claimed', 'running') AND NEW.status = 'pending' THEN
    PERFORM keep_attempts(ARRAY[OLD.id], 'lost', NULL, NULL);
  ELSIF OLD.status IN ('completed', 'failed', 'cancelled') AND NEW.status IN ('pending', 'claimed', 'running') THEN
    INSERT INTO past_attempts
    SELECT * FROM task_attempts a
     WHERE a.task_id = OLD.id AND a.fence = OLD.fence AND a.worker_id IS NOT NULL
    ON CONFLICT DO NOTHING;
    -- the next run may keep a payload of its own; the old one stays its store's
    UPDATE raw_crawl_payloads SET task_id = NULL WHERE task_id = OLD.id;
  END IF;
  NEW.ready := false;
  IF NEW.status = 'pending' THEN
    IF OLD.status IN ('completed', 'failed', 'cancelled') THEN   -- it starts from the beginning: earlier losses do not count
      NEW.loss_count := 0;
      NEW.crash_count := 0;
      NEW.snoozed_since := NULL;
    END IF;
    RETURN worker_tasks_unowned(NEW);
  END IF;
  NEW.blocked := false;
  IF OLD.status NOT IN ('claimed', 'running') AND NEW.status IN ('claimed', 'running') THEN   -- claimed by hand: a run of its own
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

-- A pending task whose time, store, role or priority was changed by hand. It may lose its reservation here, and never gains one:
-- the sweep gives them.
CREATE OR REPLACE FUNCTION worker_tasks_guard_pending() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.updated_at := now();
  NEW.role := current_role_name(NEW.role, NEW.payload);
  NEW.ready := NEW.ready AND OLD.ready AND is_due(NEW.scheduled_for) AND NEW.dispensary_id IS NOT DISTINCT FROM OLD.dispensary_id;
  RETURN NEW;
END $f$;

-- Dependencies were changed by hand; the sweep frees a task that waits for nothing any more.
CREATE OR REPLACE FUNCTION worker_tasks_guard_dependencies() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.blocked := cardinality(NEW.depends_on) > 0 IS TRUE;
  NEW.ready := NEW.ready AND NOT NEW.blocked;
  RETURN NEW;
END $f$;

-- Attempts have no foreign key: pruning removes both together.
CREATE OR REPLACE FUNCTION worker_tasks_forget_attempts() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  DELETE FROM past_attempts a USING gone WHERE a.task_id = gone.id;
  RETURN NULL;
END $f$;

-- A schedule written by hand: the old role name, and a next run that follows a changed rhythm. The next time of a cron line is the
-- program's to say: it mends a time that is further away than the rhythm allows.
CREATE OR REPLACE FUNCTION task_schedules_guard() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.role := current_role_name(NEW.role, NEW.args);
  IF TG_OP = 'INSERT' OR NEW.next_run_at IS DISTINCT FROM OLD.next_run_at OR NEW.next_run_at <= now() OR NEW.next_run_at IS NULL
     OR (NEW.interval_hours, NEW.cron) IS NOT DISTINCT FROM (OLD.interval_hours, OLD.cron) THEN
    RETURN NEW;
  END IF;
  NEW.next_run_at := now() + interval '100 years';
  RETURN NEW;
END $f$;

-- A person switched a store off: it is not discovery's any more, which switches on what it switched off.
CREATE OR REPLACE FUNCTION dispensaries_guard_off() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.disabled_reason := NULL;
  RETURN NEW;
END $f$;
