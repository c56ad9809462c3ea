-- Claiming, settling and recovering. Whoever holds (id, fence, worker_id) may write a task's ending, nobody else.

-- Locks the best `wanted` ready tasks of these roles and names them, best first. A suspect (lost twice) is picked only where
-- `allow_suspect`, and one at a time: the one that took the fewest processes with it, so that processes killed for other reasons
-- spread their blame, and only who deserves it gathers it. Ids alone come out: the caller's next statement sees rows that are
-- newer than the one that asks for them.
DROP FUNCTION IF EXISTS pick_tasks(text[], int, boolean);
CREATE FUNCTION pick_tasks(roles text[], wanted int, allow_suspect boolean) RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE suspect bigint; picked bigint[]; near bigint[]; one text;
BEGIN
  IF allow_suspect THEN
    SELECT t.id INTO suspect FROM worker_tasks t
     WHERE t.status = 'pending' AND t.ready AND t.loss_count >= 2 AND t.role = ANY (roles)
     ORDER BY t.crash_count, t.priority DESC, t.id LIMIT 1 FOR UPDATE SKIP LOCKED;
    wanted := wanted - (suspect IS NOT NULL)::int;
  END IF;
  IF cardinality(roles) = 1 THEN   -- one role has an index of its own
    SELECT array_agg(o.id) INTO picked FROM (
      SELECT t.id FROM worker_tasks t
       WHERE t.status = 'pending' AND t.ready AND t.role = roles[1] AND t.loss_count < 2
       ORDER BY t.priority DESC, t.id LIMIT wanted FOR UPDATE SKIP LOCKED) o;
  ELSIF cardinality(roles) < 6 THEN   -- some: the best of each, so that nobody walks past the backlog of a role that is not asked for
    FOREACH one IN ARRAY roles LOOP
      near := near || ARRAY (
        SELECT t.id FROM worker_tasks t
         WHERE t.status = 'pending' AND t.ready AND t.role = one AND t.loss_count < 2
         ORDER BY t.priority DESC, t.id LIMIT 2 * wanted + 8);   -- more than are wanted: others are picking too
    END LOOP;
    SELECT array_agg(o.id) INTO picked FROM (
      SELECT t.id FROM worker_tasks t WHERE t.id = ANY (near) AND t.status = 'pending' AND t.ready
       ORDER BY t.priority DESC, t.id LIMIT wanted FOR UPDATE SKIP LOCKED) o;
  ELSE
    SELECT array_agg(o.id) INTO picked FROM (
      SELECT t.id FROM worker_tasks t
       WHERE t.status = 'pending' AND t.ready AND t.role = ANY (roles) AND t.loss_count < 2
       ORDER BY t.priority DESC, t.id LIMIT wanted FOR UPDATE SKIP LOCKED) o;
  END IF;
  RETURN array_remove(suspect || picked, NULL);
END $f$;

-- Completes many tasks that have nothing to write; returns the ids that were still held.
CREATE OR REPLACE FUNCTION complete_tasks(ids bigint[], fences bigint[], workers text[], results jsonb[], details jsonb[])
RETURNS bigint[] LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE settled bigint[]; freed bigint[];
BEGIN
  WITH done AS (
         SELECT * FROM unnest(ids, fences, workers, results, details) AS d(id, fence, worker_id, result, detail)),
       ended AS (
         UPDATE worker_tasks t SET status = 'completed', completed_at = clock_timestamp(), updated_at = clock_timestamp(), result = d.result,
                dedup_key = NULL, snoozed_since = NULL, loss_count = 0, crash_count = 0
           FROM done d
          WHERE t.id = d.id AND t.fence = d.fence AND t.worker_id = d.worker_id AND t.status IN ('claimed', 'running')
            AND t.lease_expires_at > clock_timestamp()
         RETURNING t.id, t.fence, t.dispensary_id, d.detail),
       attempts AS (
         UPDATE task_attempts a SET outcome = 'completed', finished_at = clock_timestamp(), detail = e.detail
           FROM ended e WHERE a.task_id = e.id AND a.fence = e.fence)
  SELECT array_agg(e.id), array_agg(e.dispensary_id) FILTER (WHERE e.dispensary_id IS NOT NULL) INTO settled, freed FROM ended e;
  IF freed IS NOT NULL THEN PERFORM promote_stores(freed); END IF;
  RETURN coalesce(settled, '{}');
END $f$;

-- One round trip for a process's batch: completes what is done, frees the stores' slots, claims a task for each of `claimers`.
-- A row with `settled` names a completed task by its id alone; the claimed ones come best first. It commits synchronously: a
-- worker may outlive the server, and a lost claim's fence would be given out twice.
DROP FUNCTION IF EXISTS settle_and_claim(bigint[], bigint[], text[], jsonb[], jsonb[], text[], text[], interval, boolean);
CREATE FUNCTION settle_and_claim(ids bigint[], fences bigint[], workers text[], results jsonb[], details jsonb[],
                                 roles text[], claimers text[], lease interval, allow_suspect boolean)
RETURNS TABLE (settled boolean, id bigint, fence bigint, worker_id text, role text, dispensary_id bigint, platform text,
               payload jsonb, priority int, retry_count int, max_retries int, loss_count int, waited double precision)
LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE picked bigint[];
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
  IF cardinality(ids) > 0 THEN
    RETURN QUERY SELECT true, d.id, NULL::bigint, NULL::text, NULL::text, NULL::bigint, NULL::text, NULL::jsonb, NULL::int, NULL::int, NULL::int, NULL::int, NULL::double precision
                   FROM unnest(complete_tasks(ids, fences, workers, results, details)) d(id);
  END IF;
  IF cardinality(claimers) = 0 THEN RETURN; END IF;
  picked := pick_tasks(roles, cardinality(claimers), allow_suspect);
  IF cardinality(picked) = 0 THEN RETURN; END IF;
  RETURN QUERY
    WITH claimed AS (
           UPDATE worker_tasks t SET status = 'claimed', ready = false, worker_id = claimers[p.n], fence = t.fence + 1,
                  claimed_at = now(), started_at = NULL, completed_at = NULL, result = NULL, error_message = NULL,
                  last_heartbeat_at = now(), lease_expires_at = now() + lease, updated_at = now()
             FROM unnest(picked) WITH ORDINALITY AS p(id, n) WHERE t.id = p.id
           RETURNING p.n, t.id, t.fence, t.worker_id, t.role, t.dispensary_id, t.platform, t.payload, t.priority, t.retry_count,
                     t.max_retries, t.loss_count, extract(epoch FROM now() - greatest(t.created_at, t.scheduled_for))::double precision AS waited),
         attempts AS (
           INSERT INTO task_attempts (task_id, fence, worker_id) SELECT c.id, c.fence, c.worker_id FROM claimed c)
    SELECT false, c.id, c.fence, c.worker_id, c.role, c.dispensary_id, c.platform, c.payload, c.priority, c.retry_count, c.max_retries,
           c.loss_count, c.waited
      FROM claimed c ORDER BY c.n;
END $f$;

-- Ends one run: 'completed', 'cancelled', 'failed' (retried while retries are left), 'permanent', 'snoozed' or 'released'.
-- Last in the transaction that holds the run's effects. Not held any more = no_data_found, so that nothing is written.
-- Whoever ends a run locks its task before its attempt: recovery and people at psql too.
CREATE OR REPLACE FUNCTION settle_task(held_id bigint, held_fence bigint, held_worker text, ending text, outcome_result jsonb,
                                       why text, come_back interval, snooze_limit interval, told jsonb)
RETURNS text LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE verdict text := ending; became text; store bigint; seen worker_tasks;
BEGIN
  SELECT * INTO seen FROM worker_tasks t WHERE t.id = held_id FOR UPDATE;
  IF verdict = 'snoozed' AND seen.snoozed_since < now() - snooze_limit THEN
    verdict := 'failed';
    why := 'snoozed for too long: ' || left(why, 2000);   -- 8 KiB, whatever its characters
  END IF;
  became := CASE WHEN verdict IN ('completed', 'cancelled') THEN verdict
                 WHEN verdict = 'permanent' OR verdict = 'failed' AND seen.retry_count >= seen.max_retries THEN 'failed'
                 ELSE 'pending' END;
  UPDATE task_attempts a SET outcome = CASE verdict WHEN 'permanent' THEN 'failed' ELSE verdict END,
         finished_at = clock_timestamp(), error = why, detail = told
   WHERE a.task_id = held_id AND a.fence = held_fence AND a.outcome IS NULL;

  IF became = 'pending' THEN
    UPDATE worker_tasks t SET status = 'pending', worker_id = NULL, claimed_at = NULL, started_at = NULL, last_heartbeat_at = NULL,
           lease_expires_at = NULL, updated_at = clock_timestamp(), error_message = why,
           ready = t.dispensary_id IS NULL AND verdict = 'released',
           retry_count = t.retry_count + (verdict = 'failed')::int,
           scheduled_for = CASE verdict WHEN 'released' THEN t.scheduled_for ELSE clock_timestamp() + come_back END,
           snoozed_since = CASE verdict WHEN 'snoozed' THEN coalesce(t.snoozed_since, clock_timestamp())
                                        WHEN 'released' THEN t.snoozed_since END
     WHERE t.id = held_id AND t.fence = held_fence AND t.worker_id = held_worker AND t.status IN ('claimed', 'running')
       AND t.lease_expires_at > clock_timestamp()
    RETURNING t.dispensary_id INTO store;
  ELSE
    UPDATE worker_tasks t SET status = became, completed_at = clock_timestamp(), updated_at = clock_timestamp(),
           result = outcome_result, error_message = why, dedup_key = NULL, snoozed_since = NULL,
           loss_count = CASE became WHEN 'completed' THEN 0 ELSE t.loss_count END,
           crash_count = CASE became WHEN 'completed' THEN 0 ELSE t.crash_count END
     WHERE t.id = held_id AND t.fence = held_fence AND t.worker_id = held_worker AND t.status IN ('claimed', 'running')
       AND t.lease_expires_at > clock_timestamp()
    RETURNING t.dispensary_id INTO store;
  END IF;
  IF NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = format('a lease of task %s with fence %s for %s', held_id, held_fence, held_worker);
  END IF;
  IF store IS NOT NULL AND promote_stores(ARRAY[store]) > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN became;
END $f$;

-- Puts back tasks whose run is over without a word, the ids given and locked by the caller. The first loss costs nothing; a task
-- that was lost as a suspect three times fails, so that it takes no more processes with it. Without `blame` the loss is known to
-- be nobody's fault, and does not count.
DROP FUNCTION IF EXISTS lose_tasks(bigint[]);
CREATE OR REPLACE FUNCTION lose_tasks(ids bigint[], blame boolean, OUT requeued int, OUT failed int) LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE freed bigint[];
BEGIN
  UPDATE task_attempts a SET outcome = 'lost', finished_at = clock_timestamp(), error = 'the lease ran out or its worker died'
    FROM worker_tasks t WHERE t.id = ANY (ids) AND a.task_id = t.id AND a.fence = t.fence AND a.outcome IS NULL;
  WITH judged AS (
         SELECT t.id, t.crash_count + (blame AND t.loss_count >= 2)::int AS crashes FROM worker_tasks t WHERE t.id = ANY (ids)),
       lost AS (
         UPDATE worker_tasks t SET
                status = CASE WHEN j.crashes >= 3 THEN 'failed' ELSE 'pending' END,
                loss_count = t.loss_count + blame::int, crash_count = j.crashes, updated_at = clock_timestamp(),
                worker_id = CASE WHEN j.crashes >= 3 THEN t.worker_id END,
                claimed_at = CASE WHEN j.crashes >= 3 THEN t.claimed_at END,
                started_at = CASE WHEN j.crashes >= 3 THEN t.started_at END,
                last_heartbeat_at = CASE WHEN j.crashes >= 3 THEN t.last_heartbeat_at END,
                lease_expires_at = CASE WHEN j.crashes >= 3 THEN t.lease_expires_at END,
                completed_at = CASE WHEN j.crashes >= 3 THEN clock_timestamp() END,
                dedup_key = CASE WHEN j.crashes >= 3 THEN NULL ELSE t.dedup_key END,
                error_message = CASE WHEN j.crashes >= 3 THEN 'quarantined: three processes died while this was their only suspect' ELSE t.error_message END,
                scheduled_for = CASE WHEN t.loss_count = 0 OR NOT blame OR j.crashes >= 3 THEN t.scheduled_for
                                     ELSE clock_timestamp() + least(interval '1 second' * power(2, least(t.loss_count, 10) - 1), interval '60 seconds') END,
                ready = t.dispensary_id IS NULL AND (t.loss_count = 0 OR NOT blame)
           FROM judged j WHERE t.id = j.id
         RETURNING t.status, t.dispensary_id)
  SELECT count(*) FILTER (WHERE l.status = 'pending'), count(*) FILTER (WHERE l.status = 'failed'),
         array_agg(l.dispensary_id) FILTER (WHERE l.dispensary_id IS NOT NULL)
    INTO requeued, failed, freed FROM lost l;
  IF freed IS NOT NULL THEN PERFORM promote_stores(freed); END IF;
  IF requeued > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
END $f$;

-- Recovers tasks whose lease has run out, or that gave no sign for `silence` (null: the lease alone decides). Any process may.
DROP FUNCTION IF EXISTS recover_tasks(interval);
CREATE OR REPLACE FUNCTION recover_tasks(silence interval, blame boolean DEFAULT true, OUT requeued int, OUT failed int) LANGUAGE plpgsql AS $f$
DECLARE stale bigint[];
BEGIN
  SELECT array_agg(s.id) INTO stale FROM (
    SELECT t.id FROM worker_tasks t
     WHERE t.status IN ('claimed', 'running')
       AND (t.lease_expires_at IS NULL OR t.lease_expires_at <= now() OR t.last_heartbeat_at <= now() - silence)
     ORDER BY t.id LIMIT 1000 FOR UPDATE SKIP LOCKED) s;
  IF stale IS NULL THEN requeued := 0; failed := 0; RETURN; END IF;
  SELECT l.requeued, l.failed INTO requeued, failed FROM lose_tasks(stale, blame) l;
END $f$;

-- Recovers at once what a worker that is known to have died held, by (id, fence, worker) as its process remembers them.
CREATE OR REPLACE FUNCTION recover_held(ids bigint[], fences bigint[], workers text[], OUT requeued int, OUT failed int) LANGUAGE plpgsql AS $f$
DECLARE held bigint[];
BEGIN
  SELECT array_agg(s.id) INTO held FROM (
    SELECT t.id FROM worker_tasks t JOIN unnest(ids, fences, workers) AS h(id, fence, worker_id) USING (id, fence, worker_id)
     WHERE t.status IN ('claimed', 'running') ORDER BY t.id FOR UPDATE OF t) s;
  IF held IS NULL THEN requeued := 0; failed := 0; RETURN; END IF;
  SELECT l.requeued, l.failed INTO requeued, failed FROM lose_tasks(held, true) l;
END $f$;
