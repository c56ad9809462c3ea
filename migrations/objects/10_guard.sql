-- What people write at psql must not lie. drover's own functions run with drover.own = on and keep all of this true themselves.

CREATE OR REPLACE FUNCTION worker_tasks_guard_insert() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF NEW.role = 'product_resync' THEN   -- it fetched and processed: by its payload it is now one or the other
    NEW.role := CASE WHEN NEW.payload ? 'payload_id' THEN 'product_refresh' ELSE 'payload_fetch' END;
  END IF;
  NEW.ready := false;                   -- the sweep gives the store's slot
  NEW.blocked := NEW.status = 'pending' AND NEW.depends_on IS NOT NULL;
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
  IF NEW.status = 'pending' THEN
    NEW.ready := false;
    NEW.worker_id := NULL; NEW.claimed_at := NULL; NEW.started_at := NULL; NEW.completed_at := NULL;
    NEW.last_heartbeat_at := NULL; NEW.lease_expires_at := NULL;
    RETURN NEW;
  END IF;
  NEW.ready := false;
  IF NEW.status IN ('completed', 'failed', 'cancelled') THEN
    NEW.blocked := false;
    NEW.dedup_key := NULL;
    NEW.completed_at := coalesce(NEW.completed_at, now());
  END IF;
  RETURN NEW;
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

DROP TRIGGER IF EXISTS guard_role ON task_schedules;
CREATE TRIGGER guard_role BEFORE INSERT OR UPDATE OF role ON task_schedules FOR EACH ROW EXECUTE FUNCTION task_schedules_guard();
