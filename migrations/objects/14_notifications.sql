-- Notifications of ended jobs and of the crawl. docs/notifications.md explains them.

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
    (SELECT jsonb_agg(jsonb_build_object('role', 'notify', 'payload', jsonb_build_object('endpoint_id', e.id), 'priority', 10)
                      ORDER BY e.id)
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

-- Notes an event of the crawl for each rule that asks for it. A rule with a platform gets events of that platform's stores. `detail` has at most
-- 8 KiB as text.
CREATE OR REPLACE FUNCTION note_crawl_event(of_event text, of_platform text, detail jsonb) RETURNS void LANGUAGE sql AS $f$
  INSERT INTO crawl_events (rule_id, event, detail)
  SELECT r.id, of_event, detail || jsonb_build_object('at', clock_timestamp())
    FROM notification_rules r
    JOIN notification_endpoints e ON e.id = r.endpoint_id
   WHERE e.enabled AND of_event = ANY (r.events) AND (r.platform IS NULL OR r.platform = of_platform)
   ORDER BY r.id
$f$;

CREATE OR REPLACE FUNCTION worker_tasks_note_failure() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM note_crawl_event('crawl.failed', d.platform, jsonb_build_object(
            'task_id', NEW.id, 'role', NEW.role, 'store_id', NEW.dispensary_id, 'store', left(d.name, 200),
            'detail', left(NEW.error_message, 500)))
     FROM (SELECT) one LEFT JOIN dispensaries d ON d.id = NEW.dispensary_id;
  RETURN NULL;
END $f$;

CREATE OR REPLACE FUNCTION quality_findings_note() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM note_crawl_event(CASE NEW.kind WHEN 'blind_store' THEN 'store.blind' ELSE 'quality.found' END, d.platform, jsonb_build_object(
            'kind', NEW.kind, 'store_id', NEW.dispensary_id, 'store', left(d.name, 200), 'detail', left(NEW.detail, 500)))
     FROM dispensaries d WHERE d.id = NEW.dispensary_id;
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
