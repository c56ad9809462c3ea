-- Names for the advisory locks of the queue. Their numbers are arbitrary, but distinct. A transaction holds its locks until its end. drover
-- tries a lock and never waits for it, because an operator at psql may hold it for as long as a transaction stays open.

-- One sweep at a time: sweep_due and each `exclusive` call of another sweep_… function hold this lock.
CREATE OR REPLACE FUNCTION try_lock_sweep() RETURNS boolean LANGUAGE sql AS $f$ SELECT pg_try_advisory_xact_lock(7341) $f$;

-- Held by a transaction that inserts tasks of several stores and takes their reservations: two such transactions with opposite orders of
-- the stores would deadlock.
CREATE OR REPLACE FUNCTION try_lock_reservations() RETURNS boolean LANGUAGE sql AS $f$ SELECT pg_try_advisory_xact_lock(7344) $f$;

-- One generation of the same work at a time (the tasks of one run of a schedule, the crawls of a day): a generation looks for open tasks,
-- and must see those that another one inserts. For a role with stores, all work is the same; for a role without stores, the schedule's
-- arguments distinguish it.
CREATE OR REPLACE FUNCTION require_generation_lock(role text, work text) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  IF NOT pg_try_advisory_xact_lock(7343, hashtext(concat_ws(' ', role, work))) THEN
    RAISE lock_not_available USING MESSAGE = format('another generation of %s tasks is under way', role);
  END IF;
END $f$;

-- The same lock for operators at psql (generate_resync_tasks), who can wait.
CREATE OR REPLACE FUNCTION lock_generation(role text) RETURNS void LANGUAGE sql AS $f$
  SELECT pg_advisory_xact_lock(7343, hashtext(role))
$f$;

-- Held by the transaction that claims with this token (claim_token). A session that cannot take the lock knows that the claim may still
-- commit.
CREATE OR REPLACE FUNCTION try_lock_claim(token uuid) RETURNS boolean LANGUAGE sql AS $f$
  SELECT pg_try_advisory_xact_lock(hashtextextended(token::text, 7342))
$f$;

-- functions of earlier versions
DROP FUNCTION IF EXISTS lock_slots();
DROP FUNCTION IF EXISTS lock_generation();
DROP FUNCTION IF EXISTS try_lock_generation(text);
