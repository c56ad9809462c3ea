-- Claims. One bad row never fails a batch: a task that cannot be claimed is set aside, that is, failed with its reason.

-- Locks the first `wanted` of these tasks that are still ready and that no other session has locked.
CREATE OR REPLACE FUNCTION lock_ready(candidates bigint[], wanted int) RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE pending CONSTANT text := 'pending';
BEGIN
  RETURN ARRAY (
    SELECT locked.id
      FROM unnest(candidates) AS c(id)
     CROSS JOIN LATERAL (
           SELECT t.id FROM worker_tasks t
            WHERE t.id = c.id AND t.status = pending AND t.ready
            LIMIT 1
              FOR UPDATE SKIP LOCKED) locked
     LIMIT wanted);
END $f$;

-- True if one index has the ready tasks of these roles in order: they are the whole crawl family, and no task of a service is ready.
CREATE OR REPLACE FUNCTION is_crawl_alone(roles text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $f$
BEGIN
  RETURN NOT EXISTS (SELECT FROM task_kinds k WHERE k.family = 'crawl' AND k.name <> ALL (roles))
     AND (SELECT t.id FROM worker_tasks t   -- a range of one family: only the index by family gives this order
           WHERE t.status = 'pending' AND t.ready AND t.family >= 'service' AND t.family <= 'service'
           ORDER BY t.family, t.priority DESC, t.id
           LIMIT 1) IS NULL;
END $f$;

-- Locks the best `wanted` ready tasks of these roles and returns their ids, best first. `every_crawl_role`: these roles are the crawl
-- family and perhaps services, as the caller knows them; a caller of an older release may lack one of the family. No scan reads the
-- backlog of a role that is not asked for. A suspect (a task that was lost twice) is picked only with `allow_suspect`, and one at a time:
-- the one with the fewest crashes, so that losses with other causes spread over many suspects.
DROP FUNCTION IF EXISTS pick_tasks(text[], int, boolean);
CREATE OR REPLACE FUNCTION pick_tasks(roles text[], every_crawl_role boolean, wanted int, allow_suspect boolean)
RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE
  suspect bigint;
  picked bigint[] := '{}';
  candidates bigint[];
  enough int := 2 * wanted + 8;   -- other sessions pick at the same time
BEGIN
  IF allow_suspect THEN
    SELECT t.id INTO suspect
      FROM worker_tasks t
     WHERE t.status = 'pending' AND t.ready AND t.loss_count >= 2 AND t.role = ANY (roles)
     ORDER BY t.crash_count, t.priority DESC, t.id
     LIMIT 1
       FOR UPDATE SKIP LOCKED;
    wanted := wanted - (suspect IS NOT NULL)::int;
  END IF;
  IF every_crawl_role AND is_crawl_alone(roles) THEN
    picked := ARRAY (
      SELECT t.id FROM worker_tasks t
       WHERE t.status = 'pending' AND t.ready AND t.family >= 'crawl' AND t.family <= 'crawl' AND t.loss_count < 2
       ORDER BY t.family, t.priority DESC, t.id
       LIMIT wanted
         FOR UPDATE SKIP LOCKED);
    RETURN array_remove(suspect || picked, NULL);
  END IF;
  IF cardinality(roles) > 1 THEN
    candidates := ARRAY (
      SELECT best.id
        FROM unnest(roles) AS r(name)
       CROSS JOIN LATERAL (
             SELECT t.id, t.priority FROM worker_tasks t
              WHERE t.status = 'pending' AND t.ready AND t.role >= r.name AND t.role <= r.name AND t.loss_count < 2
              ORDER BY t.role, t.priority DESC, t.id
              LIMIT enough) best
       ORDER BY best.priority DESC, best.id);
    picked := lock_ready(candidates, wanted);
  END IF;
  IF cardinality(roles) = 1 OR cardinality(picked) < wanted AND cardinality(candidates) >= enough THEN
    -- one role; or other sessions have taken the best tasks of some roles: then the rest comes in the order of the roles
    picked := picked || ARRAY (
      SELECT next.id
        FROM unnest(roles) AS r(name)
       CROSS JOIN LATERAL (
             SELECT t.id FROM worker_tasks t   -- a range of one role: only the index by role gives this order
              WHERE t.status = 'pending' AND t.ready AND t.role >= r.name AND t.role <= r.name AND t.loss_count < 2
                AND t.id <> ALL (picked)
              ORDER BY t.role, t.priority DESC, t.id
              LIMIT wanted - cardinality(picked)
                FOR UPDATE SKIP LOCKED) next
       LIMIT wanted - cardinality(picked));
  END IF;
  RETURN array_remove(suspect || picked, NULL);
END $f$;

-- Claims these tasks, the n-th for the n-th of `claimers`. The caller has locked them.
CREATE OR REPLACE FUNCTION claim_picked(picked bigint[], claimers text[], lease interval, token uuid) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE claim_time timestamptz := clock_timestamp();
BEGIN
  UPDATE worker_tasks t
     SET status = 'claimed', ready = false, worker_id = claimers[array_position(picked, t.id)], fence = t.fence + 1,
         claim_token = token, claimed_at = claim_time, last_heartbeat_at = claim_time, updated_at = claim_time,
         lease_expires_at = claim_time + lease, started_at = NULL, completed_at = NULL, result = NULL, error_message = NULL,
         detail = NULL
   WHERE t.id = ANY (picked);
END $f$;

-- Claims at most one task for each of `claimers` and returns the ids.
CREATE OR REPLACE FUNCTION claim_tasks(
  roles text[], every_crawl_role boolean, claimers text[], lease interval, allow_suspect boolean, token uuid)
RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE
  pending CONSTANT text := 'pending';
  picked bigint[] := '{}';
  claimed bigint[] := '{}';
  one bigint;
BEGIN
  BEGIN
    picked := pick_tasks(roles, every_crawl_role, cardinality(claimers), allow_suspect);
    IF cardinality(picked) > 0 THEN PERFORM claim_picked(picked, claimers, lease, token); END IF;
    RETURN picked;
  EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
    -- one of them cannot be claimed: the block is rolled back, and its locks are released
  END;
  FOREACH one IN ARRAY picked LOOP
    BEGIN
      PERFORM FROM worker_tasks t WHERE t.id = one AND t.status = pending AND t.ready FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      PERFORM claim_picked(ARRAY[one], claimers[cardinality(claimed) + 1:], lease, token);
      claimed := claimed || one;
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
      PERFORM set_aside(one, format('the task cannot be claimed: %s', SQLERRM));
    END;
  END LOOP;
  RETURN claimed;
END $f$;

-- Claimed tasks as their claimers receive them. `waited` is in seconds, from when the task was due until it was claimed, and finite
-- whatever the dates are.
CREATE OR REPLACE VIEW claimed_tasks AS
SELECT id, fence, worker_id, role, dispensary_id, platform, payload, priority, retry_count, loss_count,
       least(greatest(date_part('epoch', claimed_at) - date_part('epoch', greatest(created_at, scheduled_for)), 0), 1e9) AS waited,
       claim_token, account
  FROM worker_tasks
 WHERE status IN ('claimed', 'running');

-- Locks the tasks of these leases (id, fence, worker) that are still held in one of `statuses`, and returns their ids. A row that another
-- session has locked is left out: an operator may hold that lock, and nothing waits for it. The key stays free, so that the row of a
-- payload may refer to its task meanwhile.
CREATE OR REPLACE FUNCTION lock_held(ids bigint[], fences bigint[], workers text[], statuses text[])
RETURNS bigint[] LANGUAGE plpgsql AS $f$
BEGIN
  RETURN ARRAY (
    SELECT held.id
      FROM unnest(ids, fences, workers) AS l(id, fence, worker_id)
     CROSS JOIN LATERAL (
           SELECT t.id FROM worker_tasks t
            WHERE t.id = l.id AND t.fence = l.fence AND t.worker_id = l.worker_id AND t.status = ANY (statuses)
            LIMIT 1
              FOR NO KEY UPDATE SKIP LOCKED) held);
END $f$;

-- Completes tasks that have nothing to write; returns the ids of the others: they are not held any more, or another session has their rows
-- locked. Part of settle_and_claim.
CREATE OR REPLACE FUNCTION complete_tasks(ids bigint[], fences bigint[], workers text[], results jsonb[], details jsonb[])
RETURNS bigint[] LANGUAGE plpgsql AS $f$
DECLARE
  held bigint[] := lock_held(ids, fences, workers, ARRAY['claimed', 'running']);
  settled bigint[];
  freed bigint[];
BEGIN
  WITH ended AS (
    UPDATE worker_tasks t
       SET status = 'completed', completed_at = clock_timestamp(), updated_at = clock_timestamp(),
           result = results[array_position(ids, t.id)], detail = details[array_position(ids, t.id)],
           dedup_key = NULL, snoozed_since = NULL, loss_count = 0, crash_count = 0
     WHERE t.id = ANY (held) AND t.lease_expires_at > clock_timestamp()
    RETURNING t.id, t.dispensary_id)
  SELECT array_agg(e.id), array_agg(e.dispensary_id) FILTER (WHERE e.dispensary_id IS NOT NULL) INTO settled, freed FROM ended e;
  IF promote_stores(freed) > 0 THEN PERFORM pg_notify('drover_tasks', ''); END IF;
  IF cardinality(settled) = cardinality(ids) THEN RETURN '{}'; END IF;
  RETURN ARRAY (SELECT unnest(ids) EXCEPT SELECT unnest(settled));
END $f$;

-- One round trip for a process's batch: completes finished tasks, hands on the reservations of their stores, and claims a task for each of
-- `claimers`. A row with `is_lost` has only the id of a completed task that was not written: its lease is lost, or another session has its
-- row locked; settle_task distinguishes the two. The other rows are claims, in any order. `token` marks the claims of this call: if the
-- answer does not arrive, claimed_with returns them. The transaction commits synchronously: a worker may outlive the server, and a server
-- that lost a claim would give its fence out twice.
DROP FUNCTION IF EXISTS settle_and_claim(bigint[], bigint[], text[], jsonb[], jsonb[], text[], text[], interval, boolean);
CREATE OR REPLACE FUNCTION settle_and_claim(
  ids bigint[], fences bigint[], workers text[], results jsonb[], details jsonb[],
  roles text[], every_crawl_role boolean, claimers text[], lease interval, allow_suspect boolean, token uuid)
RETURNS TABLE (is_lost boolean, id bigint, fence bigint, worker_id text, role text, dispensary_id bigint, platform text,
               payload jsonb, priority int, retry_count int, loss_count int, waited double precision, account text)
LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off AS $f$
DECLARE claimed bigint[];
BEGIN
  PERFORM commit_synchronously();
  IF token IS NOT NULL THEN PERFORM try_lock_claim(token); END IF;
  IF cardinality(ids) > 0 THEN
    RETURN QUERY
      SELECT true, d.id, NULL::bigint, NULL::text, NULL::text, NULL::bigint, NULL::text, NULL::jsonb, NULL::int, NULL::int,
             NULL::int, NULL::double precision, NULL::text
        FROM unnest(complete_tasks(ids, fences, workers, results, details)) AS d(id);
  END IF;
  IF cardinality(claimers) = 0 THEN RETURN; END IF;
  claimed := claim_tasks(roles, every_crawl_role, claimers, lease, allow_suspect, token);
  IF cardinality(claimed) = 0 THEN RETURN; END IF;
  RETURN QUERY   -- a separate statement: an earlier one would not see rows that are newer than its snapshot
    SELECT false, c.id, c.fence, c.worker_id, c.role, c.dispensary_id, c.platform, c.payload, c.priority, c.retry_count, c.loss_count,
           c.waited, c.account
      FROM claimed_tasks c
     WHERE c.id = ANY (claimed);
END $f$;

-- The tasks that a call with this token claimed and that are still active. While that call runs, its tasks cannot be known:
-- lock_not_available. A call that the server has not begun to read is not seen: the tasks that it claims later wait for one lease, and are
-- recovered without blame.
CREATE OR REPLACE FUNCTION claimed_with(token uuid) RETURNS SETOF claimed_tasks LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
BEGIN
  IF NOT try_lock_claim(token) THEN
    RAISE lock_not_available USING MESSAGE = format('the claim with token %s is still under way', token);
  END IF;
  RETURN QUERY SELECT c.* FROM claimed_tasks c WHERE c.claim_token = token ORDER BY c.id;
END $f$;

-- Starts a claimed task. False if its lease is lost. The commit does not wait for the disk: if the server crashes and loses it, the run
-- goes on, with the status 'claimed'.
CREATE OR REPLACE FUNCTION start_task(held_id bigint, held_fence bigint, held_worker text) RETURNS boolean LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE claimed CONSTANT text := 'claimed';
BEGIN
  PERFORM commit_asynchronously();
  UPDATE worker_tasks t
     SET status = 'running', started_at = clock_timestamp(), updated_at = clock_timestamp()
   WHERE t.id = held_id AND t.fence = held_fence AND t.worker_id = held_worker AND t.status = claimed
     AND t.lease_expires_at > clock_timestamp();
  RETURN FOUND;
END $f$;

-- Starts claimed tasks of one process, as start_task does, and returns those that run now. A row that another session has locked is left
-- out, where start_task waits.
CREATE OR REPLACE FUNCTION start_tasks(ids bigint[], fences bigint[], workers text[])
RETURNS TABLE (id bigint, fence bigint) LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off AS $f$
DECLARE held bigint[] := lock_held(ids, fences, workers, ARRAY['claimed']);
BEGIN
  PERFORM commit_asynchronously();
  RETURN QUERY
    UPDATE worker_tasks t
       SET status = 'running', started_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE t.id = ANY (held) AND t.lease_expires_at > clock_timestamp()
    RETURNING t.id, t.fence;
END $f$;

-- Extends the leases of one process and returns the ids of the renewed ones. A row that is locked is being settled: it needs no renewal,
-- and must not make the others wait. The commit does not wait for the disk, which a crawl keeps busy: a server that crashes before
-- flush_renewals has returned may lose the renewals.
CREATE OR REPLACE FUNCTION renew_tasks(ids bigint[], fences bigint[], workers text[], beat_ages float8[], lease interval) RETURNS SETOF bigint LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off AS $f$
DECLARE held bigint[] := lock_held(ids, fences, workers, ARRAY['claimed', 'running']);
BEGIN
  PERFORM commit_asynchronously();
  RETURN QUERY
    UPDATE worker_tasks t
       SET last_heartbeat_at = now() - make_interval(secs => beat_ages[array_position(ids, t.id)]), lease_expires_at = now() + lease
     WHERE t.id = ANY (held) AND t.lease_expires_at > clock_timestamp()
    RETURNING t.id;
END $f$;

-- Returns when the renewals that renew_tasks committed are on disk: the WAL is written in order, and this message comes after them.
CREATE OR REPLACE FUNCTION flush_renewals() RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM commit_synchronously();
  PERFORM pg_logical_emit_message(true, 'drover', 'renewals');
END $f$;
