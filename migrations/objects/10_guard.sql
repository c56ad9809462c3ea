-- What people write at psql must not lie. drover's own functions run with drover.own = on and keep all of this true themselves.

-- A pending task belongs to nobody.
CREATE OR REPLACE FUNCTION worker_tasks_unowned(task worker_tasks) RETURNS worker_tasks LANGUAGE plpgsql AS $f$
BEGIN
  task.worker_id := NULL; task.claimed_at := NULL; task.started_at := NULL; task.completed_at := NULL;
  task.last_heartbeat_at := NULL; task.lease_expires_at := NULL; task.detail := NULL;
  RETURN task;
END $f$;

-- An ended task has its time, and gives its key free.
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
  IF NEW.role = 'product_resync' THEN   -- it fetched and processed: by its payload it is now one or the other
    NEW.role := CASE WHEN NEW.payload ? 'payload_id' THEN 'product_refresh' ELSE 'payload_fetch' END;
  END IF;
  NEW.ready := false;                   -- the sweep gives the store's slot
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
    INSERT INTO past_attempts SELECT * FROM task_attempts a
     WHERE a.task_id = OLD.id AND a.fence = OLD.fence AND a.worker_id IS NOT NULL ON CONFLICT DO NOTHING;
  END IF;
  NEW.ready := false;
  IF NEW.status = 'pending' THEN
    IF OLD.status IN ('completed', 'failed', 'cancelled') THEN   -- a new life: what was held against the old one is forgotten
      NEW.loss_count := 0; NEW.crash_count := 0; NEW.snoozed_since := NULL;
    END IF;
    RETURN worker_tasks_unowned(NEW);
  END IF;
  NEW.blocked := false;
  IF OLD.status NOT IN ('claimed', 'running') AND NEW.status IN ('claimed', 'running') THEN   -- claimed by hand: a run of its own
    NEW.fence := greatest(NEW.fence, OLD.fence + 1);
    NEW.worker_id := coalesce(NEW.worker_id, session_user);
    NEW.claimed_at := CASE WHEN NEW.claimed_at IS DISTINCT FROM OLD.claimed_at THEN NEW.claimed_at ELSE now() END;
    NEW.completed_at := NULL; NEW.result := NULL; NEW.error_message := NULL; NEW.detail := NULL;
  END IF;
  RETURN worker_tasks_ended(NEW);
END $f$;

-- Dependencies that came or went by hand; the sweep frees a task that waits for nothing any more.
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

CREATE OR REPLACE FUNCTION task_schedules_guard() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF NEW.role = 'product_resync' THEN
    NEW.role := CASE WHEN NEW.args ? 'payload_id' THEN 'product_refresh' ELSE 'payload_fetch' END;
  END IF;
  RETURN NEW;
END $f$;

-- task_schedules first: who makes tasks by a schedule holds that one's row when it comes to worker_tasks.
DROP TRIGGER IF EXISTS guard_role ON task_schedules;
CREATE TRIGGER guard_role BEFORE INSERT OR UPDATE OF role ON task_schedules FOR EACH ROW EXECUTE FUNCTION task_schedules_guard();

DROP TRIGGER IF EXISTS guard_insert ON worker_tasks;
CREATE TRIGGER guard_insert BEFORE INSERT ON worker_tasks FOR EACH ROW
  WHEN (current_setting('drover.own', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION worker_tasks_guard_insert();

DROP TRIGGER IF EXISTS guard_status ON worker_tasks;
CREATE TRIGGER guard_status BEFORE UPDATE OF status ON worker_tasks FOR EACH ROW
  WHEN (NEW.status IS DISTINCT FROM OLD.status
        AND NOT (OLD.status = 'pending' AND NEW.status = 'claimed' AND NEW.fence > OLD.fence AND NOT NEW.ready AND NOT NEW.blocked
                 AND NEW.worker_id IS NOT NULL)   -- a claim: cheaper to see than the setting
        AND current_setting('drover.own', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION worker_tasks_guard_status();

DROP TRIGGER IF EXISTS guard_dependencies ON worker_tasks;
CREATE TRIGGER guard_dependencies BEFORE UPDATE OF depends_on ON worker_tasks FOR EACH ROW
  WHEN (NEW.status = 'pending' AND NEW.depends_on IS DISTINCT FROM OLD.depends_on AND current_setting('drover.own', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION worker_tasks_guard_dependencies();

DROP TRIGGER IF EXISTS forget_attempts ON worker_tasks;
CREATE TRIGGER forget_attempts AFTER DELETE ON worker_tasks REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION worker_tasks_forget_attempts();
