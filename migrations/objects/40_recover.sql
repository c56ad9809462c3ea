-- Puts tasks whose worker is gone back to pending.

-- Puts tasks back whose run ended without a settlement. The caller has locked them. `loss_count` counts losses; from the second on, the
-- task is a suspect, and each loss delays it for longer. `crash_count` counts the losses as a suspect: at the third the task fails, so that
-- it ends no more processes. Without `blame`, the loss is not the task's fault and is not counted; the loss of a task that never began is
-- not counted either.
DROP FUNCTION IF EXISTS lose_tasks(bigint[], boolean);
CREATE OR REPLACE FUNCTION lose_tasks(ids bigint[], blame boolean, attempt_outcome text, reason text, OUT requeued int, OUT failed int)
LANGUAGE plpgsql AS $f$
DECLARE
  running CONSTANT text := 'running';
  to_fail bigint[];
  to_requeue bigint[];
  freed bigint[];
  requeued_stores bigint[];
  half int := cardinality(ids) / 2;
BEGIN
  BEGIN
    SELECT coalesce(array_agg(t.id) FILTER (WHERE t.is_quarantined), '{}'),
           coalesce(array_agg(t.id) FILTER (WHERE NOT t.is_quarantined), '{}')
      INTO to_fail, to_requeue
      FROM (SELECT l.id, blame AND l.status = running AND l.loss_count >= 2 AND l.crash_count >= 2 AS is_quarantined
              FROM worker_tasks l WHERE l.id = ANY (ids)) t;
    PERFORM keep_attempts(to_requeue, attempt_outcome, reason, NULL);
    WITH put_back AS (
      UPDATE worker_tasks t
         SET status = 'pending', updated_at = clock_timestamp(), worker_id = NULL, claim_token = NULL, claimed_at = NULL, started_at = NULL,
             last_heartbeat_at = NULL, lease_expires_at = NULL, detail = NULL,
             loss_count = least(t.loss_count, 1000000) + (blame AND t.status = running)::int,
             crash_count = least(t.crash_count, 1000000) + (blame AND t.status = running AND t.loss_count >= 2)::int,
             scheduled_for = CASE WHEN blame AND t.status = running AND t.loss_count > 0
                                  THEN greatest(t.scheduled_for,
                                                clock_timestamp() + least(interval '1 second' * power(2, least(t.loss_count, 10) - 1),
                                                                          interval '60 seconds'))
                                  ELSE t.scheduled_for END,
             ready = t.dispensary_id IS NULL AND NOT t.blocked AND is_due(t.scheduled_for)
                     AND NOT (blame AND t.status = running AND t.loss_count > 0)
       WHERE t.id = ANY (to_requeue)
      RETURNING t.dispensary_id)
    SELECT count(*), array_agg(p.dispensary_id) FILTER (WHERE p.dispensary_id IS NOT NULL)
      INTO requeued, requeued_stores
      FROM put_back p;
    WITH quarantined AS (
      UPDATE worker_tasks t
         SET status = 'failed', loss_count = t.loss_count + 1, crash_count = t.crash_count + 1, updated_at = clock_timestamp(),
             completed_at = clock_timestamp(), dedup_key = NULL,
             error_message = 'quarantined: three processes died while this was their only suspect'
       WHERE t.id = ANY (to_fail)
      RETURNING t.dispensary_id)
    SELECT count(*), array_agg(q.dispensary_id) FILTER (WHERE q.dispensary_id IS NOT NULL) INTO failed, freed FROM quarantined q;
    PERFORM promote_stores(requeued_stores || freed);
    PERFORM pg_notify('drover_tasks', '');
    RETURN;
  EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
    IF half = 0 THEN
      PERFORM set_aside(ids[1], format('the task cannot be put back: %s', SQLERRM));
      requeued := 0;
      failed := 1;
      RETURN;
    END IF;
  END;
  SELECT sum(l.requeued), sum(l.failed) INTO requeued, failed
    FROM (VALUES (ids[:half]), (ids[half + 1:])) AS part(ids)
   CROSS JOIN LATERAL lose_tasks(part.ids, blame, attempt_outcome, reason) l;
END $f$;

-- True if the worker has missed three heartbeats.
CREATE OR REPLACE FUNCTION is_silent(w worker_registry) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT w.last_heartbeat_at < now() - make_interval(secs => 3 * least(greatest(w.heartbeat_seconds, 1), 86400))
$f$;

-- True if this run's process is known to have died alone. That is not known if the registry row of its worker was written after the lease
-- had expired (the worker lives: it was cut off, suspended or stuck) or says that the worker drained with this task (the worker was stopped
-- without waiting for the task's end), if the queue as a whole stood still meanwhile (`unbroken_since`; an outage or a suspended machine),
-- or if the run never had a lease.
CREATE OR REPLACE FUNCTION died_alone(worker text, claim_time timestamptz, heartbeat timestamptz, lease_end timestamptz,
                                      unbroken_since timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT lease_end IS NOT NULL
     AND (unbroken_since IS NULL
          OR date_part('epoch', unbroken_since) <= (date_part('epoch', heartbeat) + date_part('epoch', lease_end)) / 2)
     AND (SELECT r.worker_id FROM worker_registry r
           WHERE r.worker_id = worker
             AND (r.drained_at >= claim_time OR r.last_heartbeat_at > lease_end AND r.started_at <= claim_time)) IS NULL
$f$;

-- True if the worker is of another program: no process of drover has ever registered it.
CREATE OR REPLACE FUNCTION is_foreign(worker text) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT NOT EXISTS (SELECT FROM worker_registry r WHERE r.worker_id = worker)
     AND NOT EXISTS (SELECT FROM worker_names n WHERE n.worker_id = worker)
$f$;

-- Recovers at most 1,000 tasks whose lease has expired, or that had no heartbeat for `silence` (null: the lease alone decides). Any process
-- may call it. Silence alone blames no task: the caller may have chosen too short a time. Of the workers of other programs it does after ten
-- minutes, or a task that ends them again and again would never be given up.
DROP FUNCTION IF EXISTS recover_tasks(interval, boolean);
CREATE OR REPLACE FUNCTION recover_tasks(silence interval, may_blame boolean DEFAULT true, OUT requeued int, OUT failed int) LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off AS $f$
DECLARE
  to_blame bigint[];
  blameless bigint[];
  queue_unbroken_since timestamptz := (SELECT c.unbroken_since FROM queue_chores c WHERE c.name = 'sweep_due');
BEGIN
  SELECT array_agg(s.id) FILTER (WHERE s.is_blamed), array_agg(s.id) FILTER (WHERE NOT s.is_blamed)
    INTO to_blame, blameless
    FROM (
      SELECT t.id,
             may_blame AND t.status = 'running'
             AND CASE WHEN t.lease_expires_at <= now()
                      THEN died_alone(t.worker_id, t.claimed_at, t.last_heartbeat_at, t.lease_expires_at, queue_unbroken_since) IS TRUE
                      WHEN t.last_heartbeat_at <= now() - interval '10 minutes' THEN is_foreign(t.worker_id)
                      ELSE false END AS is_blamed
        FROM worker_tasks t
       WHERE t.status IN ('claimed', 'running')
         AND (t.lease_expires_at IS NULL OR NOT isfinite(t.lease_expires_at) OR t.lease_expires_at <= now()
              OR t.last_heartbeat_at <= now() - silence)
       ORDER BY t.id
       LIMIT 1000
         FOR UPDATE SKIP LOCKED) s;
  SELECT coalesce(sum(l.requeued), 0), coalesce(sum(l.failed), 0) INTO requeued, failed
    FROM (VALUES (to_blame, true), (blameless, false)) AS stale(ids, blame)
   CROSS JOIN LATERAL lose_tasks(stale.ids, stale.blame, 'lost', 'the lease ran out or its worker died') l
   WHERE stale.ids IS NOT NULL;
END $f$;

-- Puts back at once the tasks that their holder cannot end any more: a worker that died (`blame`), or one that must stop now.
DROP FUNCTION IF EXISTS recover_held(bigint[], bigint[], text[], boolean);
CREATE OR REPLACE FUNCTION recover_held(ids bigint[], fences bigint[], workers text[], blame boolean, OUT requeued int, OUT failed int)
LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off AS $f$
DECLARE held bigint[] := lock_held(ids, fences, workers, ARRAY['claimed', 'running']);
BEGIN
  requeued := 0;
  failed := 0;
  IF cardinality(held) = 0 THEN RETURN; END IF;
  SELECT l.requeued, l.failed INTO requeued, failed FROM lose_tasks(held, blame, 'lost', 'its worker died or had to stop') l;
END $f$;

-- Puts back tasks that were claimed and never begun, without counting a loss or a retry; returns their number. Running tasks stay as they
-- are.
CREATE OR REPLACE FUNCTION release_unstarted(ids bigint[], fences bigint[], workers text[]) RETURNS int LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off AS $f$
DECLARE held bigint[] := lock_held(ids, fences, workers, ARRAY['claimed']);
BEGIN
  IF cardinality(held) = 0 THEN RETURN 0; END IF;
  RETURN (SELECT l.requeued FROM lose_tasks(held, false, 'released', 'the answer to its claim was lost') l);
END $f$;
