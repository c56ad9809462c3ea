-- Claiming, settling and recovering. Whoever holds (id, fence, worker_id) may write a task's ending, nobody else.

-- Locks the best `wanted` ready tasks of these roles and names them, best first. A suspect (lost twice) is picked only where
-- `allow_suspect`, and one at a time: the one that took the fewest processes with it, so that processes killed for other reasons
-- spread their blame, and only who deserves it gathers it. Ids alone come out: the caller's next statement sees rows that are
-- newer than the one that asks for them.
DROP FUNCTION IF EXISTS pick_tasks(text[], int, boolean);
CREATE FUNCTION pick_tasks(roles text[], wanted int, allow_suspect boolean) RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE suspect bigint; picked bigint[] := '{}'; near bigint[]; best bigint[]; one text; is_cut boolean := false;
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
      best := ARRAY (
        SELECT t.id FROM worker_tasks t
         WHERE t.status = 'pending' AND t.ready AND t.role = one AND t.loss_count < 2
         ORDER BY t.priority DESC, t.id LIMIT 2 * wanted + 8);   -- more than are wanted: others are picking too
      near := near || best;
      is_cut := is_cut OR cardinality(best) = 2 * wanted + 8;
    END LOOP;
    SELECT array_agg(o.id) INTO picked FROM (
      SELECT t.id FROM worker_tasks t WHERE t.id = ANY (near) AND t.status = 'pending' AND t.ready
       ORDER BY t.priority DESC, t.id LIMIT wanted FOR UPDATE SKIP LOCKED) o;
    is_cut := is_cut AND coalesce(cardinality(picked), 0) < wanted;   -- so many are picking that the best are gone
  END IF;
  IF cardinality(roles) >= 6 OR is_cut THEN
    SELECT coalesce(picked, '{}') || array_agg(o.id) INTO picked FROM (
      SELECT t.id FROM worker_tasks t
       WHERE t.status = 'pending' AND t.ready AND t.role = ANY (roles) AND t.loss_count < 2 AND t.id <> ALL (coalesce(picked, '{}'))
       ORDER BY t.priority DESC, t.id LIMIT wanted - coalesce(cardinality(picked), 0) FOR UPDATE SKIP LOCKED) o;
  END IF;
  RETURN array_remove(suspect || picked, NULL);
END $f$;

-- Completes many tasks that have nothing to write; returns the ids that were not held any more. A part of settle_and_claim.
DROP FUNCTION IF EXISTS complete_tasks(bigint[], bigint[], text[], jsonb[], jsonb[]);
CREATE FUNCTION complete_tasks(ids bigint[], fences bigint[], workers text[], results jsonb[], details jsonb[])
RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE
  settled bigint[]; freed bigint[];
  active CONSTANT text[] := ARRAY['claimed', 'running'];   -- not written out: a plan would walk all of worker_tasks_active, the primary key is meant
BEGIN
  WITH done AS (
         SELECT * FROM unnest(ids, fences, workers, results, details) AS d(id, fence, worker_id, result, detail)),
       ended AS (
         UPDATE worker_tasks t SET status = 'completed', completed_at = clock_timestamp(), updated_at = clock_timestamp(), result = d.result, detail = d.detail,
                dedup_key = NULL, snoozed_since = NULL, loss_count = 0, crash_count = 0
           FROM done d
          WHERE t.id = d.id AND t.fence = d.fence AND t.worker_id = d.worker_id AND t.status = ANY (active)
            AND t.lease_expires_at > clock_timestamp()
         RETURNING t.id, t.dispensary_id)
  SELECT array_agg(e.id), array_agg(e.dispensary_id) FILTER (WHERE e.dispensary_id IS NOT NULL) INTO settled, freed FROM ended e;
  IF promote_stores(freed) > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  IF cardinality(settled) = cardinality(ids) THEN RETURN '{}'; END IF;
  RETURN ARRAY (SELECT unnest(ids) EXCEPT SELECT unnest(settled));
END $f$;

-- One round trip for a process's batch: completes what is done, frees the stores' slots, claims a task for each of `claimers`.
-- A row with `lost` names by its id alone a task that was not held any more; the best tasks go to the first claimers, in rows of
-- any order. It commits synchronously: a worker may outlive the server, and a lost claim's fence would be given out twice.
DROP FUNCTION IF EXISTS settle_and_claim(bigint[], bigint[], text[], jsonb[], jsonb[], text[], text[], interval, boolean);
CREATE FUNCTION settle_and_claim(ids bigint[], fences bigint[], workers text[], results jsonb[], details jsonb[],
                                 roles text[], claimers text[], lease interval, allow_suspect boolean)
RETURNS TABLE (lost boolean, id bigint, fence bigint, worker_id text, role text, dispensary_id bigint, platform text,
               payload jsonb, priority int, retry_count int, loss_count int, waited double precision)
LANGUAGE plpgsql SET drover.own = 'on' SET plan_cache_mode = 'force_generic_plan' AS $f$   -- else each call plans anew
DECLARE picked bigint[];
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
  IF cardinality(ids) > 0 THEN
    RETURN QUERY SELECT true, d.id, NULL::bigint, NULL::text, NULL::text, NULL::bigint, NULL::text, NULL::jsonb, NULL::int, NULL::int, NULL::int, NULL::double precision
                   FROM unnest(complete_tasks(ids, fences, workers, results, details)) d(id);
  END IF;
  IF cardinality(claimers) = 0 THEN RETURN; END IF;
  picked := pick_tasks(roles, cardinality(claimers), allow_suspect);
  IF cardinality(picked) = 0 THEN RETURN; END IF;
  RETURN QUERY
    UPDATE worker_tasks t SET status = 'claimed', ready = false, worker_id = claimers[p.n], fence = t.fence + 1,
           claimed_at = now(), started_at = NULL, completed_at = NULL, result = NULL, error_message = NULL, detail = NULL,
           last_heartbeat_at = now(), lease_expires_at = now() + lease, updated_at = now()
      FROM unnest(picked) WITH ORDINALITY AS p(id, n) WHERE t.id = p.id
    RETURNING false, t.id, t.fence, t.worker_id, t.role, t.dispensary_id, t.platform, t.payload, t.priority, t.retry_count,
              t.loss_count, extract(epoch FROM now() - greatest(t.created_at, t.scheduled_for))::double precision;
END $f$;

-- Ends one run: 'completed', 'cancelled', 'failed' (retried while retries are left), 'permanent', 'snoozed' or 'released'.
-- Last in the transaction that holds the run's effects. Not held any more = no_data_found, so that nothing is written.
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
  IF became = 'pending' THEN
    PERFORM keep_attempts(ARRAY[held_id], verdict, why, told);
    UPDATE worker_tasks t SET status = 'pending', worker_id = NULL, claimed_at = NULL, started_at = NULL, last_heartbeat_at = NULL,
           lease_expires_at = NULL, detail = NULL, updated_at = clock_timestamp(), error_message = why,
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
           result = outcome_result, error_message = why, detail = told, dedup_key = NULL, snoozed_since = NULL,
           loss_count = CASE became WHEN 'completed' THEN 0 ELSE t.loss_count END,
           crash_count = CASE became WHEN 'completed' THEN 0 ELSE t.crash_count END
     WHERE t.id = held_id AND t.fence = held_fence AND t.worker_id = held_worker AND t.status IN ('claimed', 'running')
       AND t.lease_expires_at > clock_timestamp()
    RETURNING t.dispensary_id INTO store;
  END IF;
  IF NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = format('a lease of task %s with fence %s for %s', held_id, held_fence, held_worker);
  END IF;
  IF promote_stores(ARRAY[store]) > 0 OR verdict = 'released' AND store IS NULL THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  RETURN became;
END $f$;

-- Puts back tasks whose run is over without a word, the ids given and locked by the caller. The first loss costs nothing; a task
-- that was lost as a suspect three times fails, so that it takes no more processes with it. Without `blame` the loss is known to
-- be nobody's fault, and does not count.
CREATE OR REPLACE FUNCTION lose_tasks(ids bigint[], blame boolean, OUT requeued int, OUT failed int) LANGUAGE plpgsql SET drover.own = 'on' AS $f$
DECLARE guilty bigint[]; innocent bigint[]; freed bigint[]; again bigint[]; promoted bigint;
BEGIN
  SELECT coalesce(array_agg(t.id) FILTER (WHERE blame AND t.loss_count >= 2 AND t.crash_count >= 2), '{}'),
         coalesce(array_agg(t.id) FILTER (WHERE NOT (blame AND t.loss_count >= 2 AND t.crash_count >= 2)), '{}')
    INTO guilty, innocent FROM worker_tasks t WHERE t.id = ANY (ids);
  PERFORM keep_attempts(innocent, 'lost', 'the lease ran out or its worker died', NULL);
  WITH put_back AS (
    UPDATE worker_tasks t SET status = 'pending', loss_count = t.loss_count + blame::int,
           crash_count = t.crash_count + (blame AND t.loss_count >= 2)::int, updated_at = clock_timestamp(),
           worker_id = NULL, claimed_at = NULL, started_at = NULL, last_heartbeat_at = NULL, lease_expires_at = NULL, detail = NULL,
           scheduled_for = CASE WHEN t.loss_count = 0 OR NOT blame THEN t.scheduled_for
                                ELSE clock_timestamp() + least(interval '1 second' * power(2, least(t.loss_count, 10) - 1), interval '60 seconds') END,
           ready = t.dispensary_id IS NULL AND (t.loss_count = 0 OR NOT blame)
     WHERE t.id = ANY (innocent) RETURNING t.dispensary_id)
  SELECT count(*), array_agg(p.dispensary_id) FILTER (WHERE p.dispensary_id IS NOT NULL) INTO requeued, again FROM put_back p;
  WITH quarantined AS (
    UPDATE worker_tasks t SET status = 'failed', loss_count = t.loss_count + 1, crash_count = t.crash_count + 1,
           updated_at = clock_timestamp(), completed_at = clock_timestamp(), dedup_key = NULL,
           error_message = 'quarantined: three processes died while this was their only suspect'
     WHERE t.id = ANY (guilty) RETURNING t.dispensary_id)
  SELECT count(*), array_agg(q.dispensary_id) FILTER (WHERE q.dispensary_id IS NOT NULL) INTO failed, freed FROM quarantined q;
  promoted := promote_stores(again || freed);
  IF requeued > 0 OR promoted > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
END $f$;

-- Recovers tasks whose lease has run out, or that gave no sign for `silence` (null: the lease alone decides). Any process may.
-- Silence alone blames nobody: whoever asks may have asked for too little of it.
DROP FUNCTION IF EXISTS recover_tasks(interval, boolean);
CREATE FUNCTION recover_tasks(silence interval, blame boolean DEFAULT true, OUT requeued int, OUT failed int) LANGUAGE plpgsql AS $f$
DECLARE lapsed bigint[]; silent bigint[];
BEGIN
  SELECT array_agg(s.id) FILTER (WHERE s.has_lapsed), array_agg(s.id) FILTER (WHERE NOT s.has_lapsed) INTO lapsed, silent FROM (
    SELECT t.id, t.lease_expires_at IS NULL OR t.lease_expires_at <= now() AS has_lapsed FROM worker_tasks t
     WHERE t.status IN ('claimed', 'running')
       AND (t.lease_expires_at IS NULL OR t.lease_expires_at <= now() OR t.last_heartbeat_at <= now() - silence)
     ORDER BY t.id LIMIT 1000 FOR UPDATE SKIP LOCKED) s;
  SELECT coalesce(sum(l.requeued), 0), coalesce(sum(l.failed), 0) INTO requeued, failed
    FROM (VALUES (lapsed, blame), (silent, false)) AS stale(ids, blame) CROSS JOIN LATERAL lose_tasks(stale.ids, stale.blame) l
   WHERE stale.ids IS NOT NULL;
END $f$;

-- Puts back at once what its holder cannot end any more, by (id, fence, worker) as its process remembers them: a worker that died
-- (`blame`), or one that must stop now.
DROP FUNCTION IF EXISTS recover_held(bigint[], bigint[], text[]);
DROP FUNCTION IF EXISTS recover_held(bigint[], bigint[], text[], boolean);
CREATE FUNCTION recover_held(ids bigint[], fences bigint[], workers text[], blame boolean, OUT requeued int, OUT failed int) LANGUAGE plpgsql AS $f$
DECLARE held bigint[];
BEGIN
  SELECT array_agg(s.id) INTO held FROM (
    SELECT t.id FROM worker_tasks t JOIN unnest(ids, fences, workers) AS h(id, fence, worker_id) USING (id, fence, worker_id)
     WHERE t.status IN ('claimed', 'running') ORDER BY t.id FOR UPDATE OF t) s;
  IF held IS NULL THEN requeued := 0; failed := 0; RETURN; END IF;
  SELECT l.requeued, l.failed INTO requeued, failed FROM lose_tasks(held, blame) l;
END $f$;
