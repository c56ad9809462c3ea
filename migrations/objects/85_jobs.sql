-- Media jobs: tasks whose role is the type of the job. A job's priority is 1 (first) to 10; the task's priority is 10 minus that.

-- Queues a job, which waits until the tasks `after` are completed; returns its id. While another job with its key is open:
-- unique_violation.
CREATE OR REPLACE FUNCTION insert_job(job_type text, platform text, account text, job_priority int, args jsonb, at timestamptz, retries int,
                                      after bigint[]) RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE made bigint;
BEGIN
  IF job_type IS NULL OR job_type <> ALL (roles_of('{media}')) THEN
    RAISE check_violation USING MESSAGE = format('unknown job type %s: the job types are %s', coalesce(job_type, 'null'),
                                                 array_to_string(roles_of('{media}'), ', '));
  END IF;
  IF job_priority NOT BETWEEN 1 AND 10 THEN
    RAISE check_violation USING MESSAGE = format('the priority of a job is 1 (first) to 10, and not %s', job_priority);
  END IF;
  INSERT INTO worker_tasks (role, platform, account, priority, payload, scheduled_for, max_retries, depends_on, dedup_key)
  VALUES (job_type, platform, account, 10 - coalesce(job_priority, 5), coalesce(args, '{}'), at, coalesce(retries, 3), nullif(after, '{}'),
          job_key(job_type, platform, account, coalesce(args, '{}')))
  RETURNING id INTO made;
  RETURN made;
END $f$;

-- Brings a job of an older queue over, once. It returns the job's task: the one that was made for it now or by an earlier import, or the
-- open one that does the same; the task is null where an earlier import of this source had another job with this id. ended_as is the
-- status of a job that has ended, and null for one that is still to run. Jobs of one key with other arguments all come: the older queue
-- kept them side by side.
CREATE OR REPLACE FUNCTION import_job(from_source text, from_id bigint, old_made_at timestamptz, old_type text, old_platform text,
                                      old_account text, job_priority int, args jsonb, at timestamptz, retries int, retried int,
                                      ended_as text, began_at timestamptz, ended_at timestamptz, error text,
                                      OUT task bigint, OUT is_new boolean) LANGUAGE plpgsql AS $f$
DECLARE key text := job_key(old_type, old_platform, old_account, args); known_since timestamptz; open_args jsonb;
BEGIN
  is_new := false;
  SELECT i.task_id, i.made_at INTO task, known_since FROM imported_jobs i WHERE i.source = from_source AND i.old_id = from_id;
  IF FOUND THEN
    IF known_since IS DISTINCT FROM old_made_at THEN task := NULL; END IF;
    RETURN;
  END IF;
  IF ended_as IS NULL THEN
    SELECT t.id, t.payload INTO task, open_args FROM worker_tasks t WHERE t.dedup_key = key;
    IF FOUND AND jsonb_strip_nulls(open_args) <> jsonb_strip_nulls(args) THEN
      key := key || ':' || md5(jsonb_strip_nulls(args)::text);
      SELECT t.id INTO task FROM worker_tasks t WHERE t.dedup_key = key;
    END IF;
    -- a task of a schedule has no key; only jobs without arguments are sought so, as that reads all open tasks of the role
    IF task IS NULL AND old_account IS NULL AND jsonb_strip_nulls(args) = '{}' THEN
      task := open_twin(old_type, NULL, old_platform, NULL, args);
    END IF;
  END IF;
  IF task IS NULL THEN
    is_new := true;
    INSERT INTO worker_tasks (role, platform, account, priority, payload, scheduled_for, max_retries, retry_count, dedup_key, status,
                              started_at, completed_at, error_message, created_at)
    VALUES (old_type, old_platform, old_account, 10 - job_priority, args, at, coalesce(retries, 3), retried, key, coalesce(ended_as, 'pending'),
            CASE WHEN began_at IS NOT NULL THEN least(began_at, now()) END, CASE WHEN ended_as IS NOT NULL THEN least(coalesce(ended_at, began_at, old_made_at), now()) END,
            error, least(coalesce(old_made_at, now()), now()))
    RETURNING id INTO task;
  END IF;
  INSERT INTO imported_jobs (source, old_id, made_at, task_id) VALUES (from_source, from_id, old_made_at, task);
END $f$;

-- True if a task waits for its children, or for its second run, which has them all: people see a running job.
CREATE OR REPLACE FUNCTION is_between_runs(status text, awaits_children boolean, scheduled_for timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $f$
  SELECT status = 'pending' AND awaits_children AND is_due(scheduled_for)
$f$;

-- Number of these tasks that have ended; a deleted one has.
CREATE OR REPLACE FUNCTION ended_among(ids bigint[]) RETURNS int LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE open CONSTANT text[] := ARRAY['pending', 'claimed', 'running'];
BEGIN
  RETURN cardinality(ids) - (SELECT count(*) FROM worker_tasks t WHERE t.id = ANY (ids) AND t.status = ANY (open));
END $f$;

-- The established table of jobs, for programs and for users at psql; they may insert into it.
CREATE OR REPLACE VIEW worker_job_queue AS
SELECT t.id, t.role AS job_type, t.platform, t.account, greatest(1, least(10, 10 - t.priority)) AS priority,
       CASE WHEN t.status = 'claimed' OR is_between_runs(t.status, t.awaits_children, t.scheduled_for) THEN 'running'
            ELSE t.status END AS status,
       t.payload, t.error_message, t.retry_count, t.max_retries, t.created_at,
       CASE WHEN is_between_runs(t.status, t.awaits_children, t.scheduled_for)
            THEN (SELECT a.claimed_at FROM past_attempts a WHERE a.task_id = t.id AND a.fence = t.fence)
            ELSE t.started_at END AS started_at,
       t.completed_at, t.worker_id,
       CASE WHEN is_between_runs(t.status, t.awaits_children, t.scheduled_for)
            THEN (100 * ended_among(t.depends_on) / nullif(cardinality(t.depends_on), 0))::smallint
            ELSE t.progress_percent END AS progress_percent,
       CASE WHEN is_between_runs(t.status, t.awaits_children, t.scheduled_for)
            THEN format('%s of %s ended', ended_among(t.depends_on), cardinality(t.depends_on))
            ELSE t.progress_message END AS progress_message,
       t.scheduled_for, t.result, t.updated_at, t.depends_on, t.parent_task_id AS parent_id
  FROM worker_tasks t
 WHERE t.family = 'media';

CREATE OR REPLACE FUNCTION insert_into_worker_job_queue() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF coalesce(NEW.status, 'pending') <> 'pending' THEN
    RAISE check_violation USING MESSAGE = format('a new job is pending, and not %s', NEW.status);
  END IF;
  NEW.id := insert_job(NEW.job_type, NEW.platform, NEW.account, NEW.priority, NEW.payload, NEW.scheduled_for, NEW.max_retries,
                       NEW.depends_on);
  SELECT * INTO NEW FROM worker_job_queue q WHERE q.id = NEW.id;
  RETURN NEW;
END $f$;

-- Writes the changes that an operator or an older program makes to a job: it claims the job, reports its progress or ends it. The triggers
-- of worker_tasks complete the row.
CREATE OR REPLACE FUNCTION update_worker_job_queue() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF (NEW.id, NEW.job_type, NEW.created_at) IS DISTINCT FROM (OLD.id, OLD.job_type, OLD.created_at) THEN
    RAISE check_violation USING MESSAGE = 'the id, job_type and created_at of a job stay as they are';
  END IF;
  IF NEW.priority IS NULL OR NEW.priority NOT BETWEEN 1 AND 10 THEN
    RAISE check_violation USING MESSAGE = format('the priority of a job is 1 (first) to 10, and not %s', coalesce(NEW.priority::text, 'null'));
  END IF;
  UPDATE worker_tasks t
     SET platform = NEW.platform, account = NEW.account, payload = NEW.payload, error_message = NEW.error_message,
         retry_count = NEW.retry_count, max_retries = NEW.max_retries, completed_at = NEW.completed_at, worker_id = NEW.worker_id,
         scheduled_for = NEW.scheduled_for, result = NEW.result, updated_at = now(),
         depends_on = NEW.depends_on,
         -- the view shows other values than the task has: an unchanged value must not overwrite the task's
         started_at = CASE WHEN NEW.started_at IS DISTINCT FROM OLD.started_at THEN NEW.started_at ELSE t.started_at END,
         progress_percent = CASE WHEN NEW.progress_percent IS DISTINCT FROM OLD.progress_percent THEN NEW.progress_percent
                                 ELSE t.progress_percent END,
         progress_message = CASE WHEN NEW.progress_message IS DISTINCT FROM OLD.progress_message THEN NEW.progress_message
                                 ELSE t.progress_message END,
         priority = CASE WHEN NEW.priority = OLD.priority THEN t.priority ELSE 10 - NEW.priority END,
         status = CASE WHEN NEW.status = OLD.status THEN t.status ELSE NEW.status END
   WHERE t.id = OLD.id;
  SELECT * INTO NEW FROM worker_job_queue q WHERE q.id = OLD.id;
  RETURN NEW;
END $f$;

CREATE OR REPLACE TRIGGER insert_job INSTEAD OF INSERT ON worker_job_queue
  FOR EACH ROW EXECUTE FUNCTION insert_into_worker_job_queue();

CREATE OR REPLACE TRIGGER update_job INSTEAD OF UPDATE ON worker_job_queue
  FOR EACH ROW EXECUTE FUNCTION update_worker_job_queue();
