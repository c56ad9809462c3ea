-- What people write at psql must not lie. drover's own functions run with drover.own = on and keep all of this true themselves.

-- A pending task belongs to nobody.
CREATE OR REPLACE FUNCTION worker_tasks_unowned(task worker_tasks) RETURNS worker_tasks LANGUAGE plpgsql AS $f$
BEGIN
  task.worker_id := NULL; task.claimed_at := NULL; task.started_at := NULL; task.completed_at := NULL;
  task.last_heartbeat_at := NULL; task.lease_expires_at := NULL;
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
  RETURN NEW;
END $f$;

CREATE OR REPLACE FUNCTION worker_tasks_guard_status() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.updated_at := now();
  IF OLD.status IN ('claimed', 'running') AND NEW.status NOT IN ('claimed', 'running') THEN
    UPDATE task_attempts SET finished_at = now(),
           outcome = CASE NEW.status WHEN 'pending' THEN 'lost' ELSE NEW.status END
     WHERE task_id = OLD.id AND fence = OLD.fence AND outcome IS NULL;
  END IF;
  NEW.ready := false;
  IF NEW.status = 'pending' THEN
    IF OLD.status IN ('completed', 'failed', 'cancelled') THEN   -- a new life: what was held against the old one is forgotten
      NEW.loss_count := 0; NEW.crash_count := 0; NEW.snoozed_since := NULL;
    END IF;
    RETURN worker_tasks_unowned(NEW);
  END IF;
  IF NEW.status IN ('completed', 'failed', 'cancelled') THEN
    NEW.blocked := false;
    NEW.dedup_key := NULL;
    NEW.completed_at := coalesce(NEW.completed_at, now());
  END IF;
  RETURN NEW;
END $f$;

-- Attempts have no foreign key, which each claim would pay for.
CREATE OR REPLACE FUNCTION worker_tasks_forget_attempts() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  DELETE FROM task_attempts a USING gone WHERE a.task_id = gone.id;
  RETURN NULL;
END $f$;

CREATE OR REPLACE FUNCTION task_schedules_guard() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF NEW.role = 'product_resync' THEN
    NEW.role := CASE WHEN NEW.args ? 'payload_id' THEN 'product_refresh' ELSE 'payload_fetch' END;
  END IF;
  RETURN NEW;
END $f$;

DROP TRIGGER IF EXISTS guard_insert ON worker_tasks;
CREATE TRIGGER guard_insert BEFORE INSERT ON worker_tasks FOR EACH ROW
  WHEN (current_setting('drover.own', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION worker_tasks_guard_insert();

DROP TRIGGER IF EXISTS guard_status ON worker_tasks;
CREATE TRIGGER guard_status BEFORE UPDATE OF status ON worker_tasks FOR EACH ROW
  WHEN (NEW.status IS DISTINCT FROM OLD.status AND current_setting('drover.own', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION worker_tasks_guard_status();

DROP TRIGGER IF EXISTS forget_attempts ON worker_tasks;
CREATE TRIGGER forget_attempts AFTER DELETE ON worker_tasks REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION worker_tasks_forget_attempts();

DROP TRIGGER IF EXISTS guard_role ON task_schedules;
CREATE TRIGGER guard_role BEFORE INSERT OR UPDATE OF role ON task_schedules FOR EACH ROW EXECUTE FUNCTION task_schedules_guard();
