-- All runs of all tasks: a task's latest run is in its own row, earlier ones are in `past_attempts`. docs/task-lifecycle.md says why.

CREATE OR REPLACE VIEW task_attempts AS
SELECT task_id, fence, worker_id, outcome, claimed_at, finished_at, error, detail
  FROM past_attempts
UNION ALL
SELECT id, fence, worker_id,
       CASE WHEN status IN ('claimed', 'running') THEN NULL
            WHEN status = 'failed' AND crash_count >= 3 THEN 'lost'   -- quarantined: its last run ended without a settlement
            ELSE status END,
       claimed_at, completed_at, error_message, detail
  FROM worker_tasks
 WHERE claimed_at IS NOT NULL;

-- Copies the latest run of these tasks to `past_attempts`, before a statement puts the tasks back to pending. The caller has locked their
-- rows.
DROP FUNCTION IF EXISTS keep_attempts(bigint[], text, text, jsonb);
CREATE FUNCTION keep_attempts(ids bigint[], attempt_outcome text, attempt_error text, attempt_detail jsonb)
RETURNS void LANGUAGE sql AS $f$
  INSERT INTO past_attempts (task_id, fence, worker_id, outcome, claimed_at, finished_at, error, detail)
  SELECT t.id, t.fence, t.worker_id, attempt_outcome, t.claimed_at, clock_timestamp(), attempt_error, attempt_detail
    FROM worker_tasks t
   WHERE t.id = ANY (ids) AND t.claimed_at IS NOT NULL AND t.worker_id IS NOT NULL
  ON CONFLICT DO NOTHING   -- a fence that was written by hand may have a row already, which stays
$f$;

-- Writes to the view at psql. Earlier runs may be inserted, changed and deleted; the latest run is changed in its task's row.
CREATE OR REPLACE FUNCTION task_attempts_write() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF TG_OP IN ('UPDATE', 'DELETE') THEN
    DELETE FROM past_attempts a WHERE a.task_id = OLD.task_id AND a.fence = OLD.fence;
    IF NOT FOUND THEN
      RAISE 'the latest run of task % stands in its row of worker_tasks: change it there', OLD.task_id;
    END IF;
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  INSERT INTO past_attempts (task_id, fence, worker_id, outcome, claimed_at, finished_at, error, detail)
  VALUES (NEW.task_id, NEW.fence, NEW.worker_id, NEW.outcome, coalesce(NEW.claimed_at, now()), NEW.finished_at, NEW.error,
          NEW.detail);
  UPDATE worker_tasks t SET fence = NEW.fence   -- a later run must not get the same fence
   WHERE t.id = NEW.task_id AND t.fence < NEW.fence AND t.claimed_at IS NULL;
  RETURN NEW;
END $f$;

CREATE OR REPLACE TRIGGER task_attempts_write INSTEAD OF INSERT OR UPDATE OR DELETE ON task_attempts
  FOR EACH ROW EXECUTE FUNCTION task_attempts_write();
