-- Notifications of ended jobs. docs/notifications.md explains them.

-- The body of a job's notification: at most 20 KiB as text, whatever the job holds. A long result is left out.
CREATE OR REPLACE FUNCTION job_notice(job worker_tasks) RETURNS jsonb LANGUAGE sql STABLE AS $f$
  SELECT jsonb_build_object(
           'id', job.id, 'job_type', job.role, 'platform', left(job.platform, 200), 'account', left(job.account, 200),
           'status', job.status, 'error_message', left(job.error_message, 2000),
           'result', CASE WHEN octet_length(job.result::text) <= 4096 THEN job.result END,
           'result_is_cut', octet_length(job.result::text) > 4096 IS TRUE,
           'created_at', job.created_at, 'started_at', job.started_at, 'completed_at', job.completed_at)
$f$;

-- Makes a task of the sender for each of these endpoints that has none.
CREATE OR REPLACE FUNCTION make_notify_tasks(endpoints bigint[]) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM make_children(
    (SELECT jsonb_agg(jsonb_build_object('role', 'notify', 'payload', jsonb_build_object('endpoint_id', e.id), 'priority', 10,
                                         'dedup_key', format('notify:%s', e.id)) ORDER BY e.id)
       FROM unnest(endpoints) AS e(id)));
END $f$;

-- Writes the notifications of a job that has ended, where a rule asks for them. Its trigger covers every way in which a job ends. A
-- disabled endpoint gets none.
CREATE OR REPLACE FUNCTION worker_tasks_notify() RETURNS trigger LANGUAGE plpgsql AS $f$
DECLARE
  of_event CONSTANT text := 'job.' || NEW.status;
  endpoints bigint[];
BEGIN
  WITH made AS (
    INSERT INTO notifications (endpoint_id, event, subject, body)
    SELECT e.id, of_event, format('%s:%s', NEW.id, NEW.fence), job_notice(NEW)
      FROM notification_endpoints e
     WHERE e.enabled
       AND EXISTS (SELECT FROM notification_rules r
                    WHERE r.endpoint_id = e.id AND of_event = ANY (r.events)
                      AND coalesce(r.job_type, NEW.role) = NEW.role
                      AND (r.platform IS NULL OR r.platform = NEW.platform)
                      AND (r.account IS NULL OR r.account = NEW.account))
     ORDER BY e.id
       FOR KEY SHARE OF e   -- one that is being removed is waited for, and gets none
    ON CONFLICT DO NOTHING
    RETURNING endpoint_id)
  SELECT array_agg(m.endpoint_id) INTO endpoints FROM made m;
  IF endpoints IS NOT NULL THEN PERFORM make_notify_tasks(endpoints); END IF;
  RETURN NULL;
END $f$;

-- Makes the tasks of the sender that are missing: the last run of an endpoint's sender did not see a notification that was written
-- meanwhile, the endpoint was enabled again, or someone removed the task. Returns the number of endpoints.
CREATE OR REPLACE FUNCTION sweep_notifications(batch int) RETURNS bigint LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '100ms' AS $f$
DECLARE
  endpoints bigint[] := ARRAY (
    SELECT e.id
      FROM notification_endpoints e
     WHERE e.enabled
       AND EXISTS (SELECT FROM notifications n WHERE n.endpoint_id = e.id AND n.state = 'pending')
       AND NOT EXISTS (SELECT FROM worker_tasks t WHERE t.dedup_key = format('notify:%s', e.id))
     ORDER BY e.id
     LIMIT batch);
BEGIN
  IF cardinality(endpoints) > 0 THEN PERFORM make_notify_tasks(endpoints); END IF;
  RETURN cardinality(endpoints);
END $f$;

-- Lets the sender of an endpoint run now, although it may wait for a later try.
CREATE OR REPLACE FUNCTION hasten_notify(endpoint bigint) RETURNS void LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE pending CONSTANT text := 'pending';
BEGIN
  PERFORM make_notify_tasks(ARRAY[endpoint]);
  UPDATE worker_tasks t SET scheduled_for = NULL, ready = true, updated_at = clock_timestamp()
   WHERE t.dedup_key = format('notify:%s', endpoint) AND t.status = pending AND NOT t.ready AND NOT t.blocked;
  PERFORM pg_notify('drover_tasks', '');
END $f$;

-- An endpoint that is enabled has no reason to be disabled.
CREATE OR REPLACE FUNCTION notification_endpoints_enabled() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.disabled_reason := NULL;
  RETURN NEW;
END $f$;
