-- The advisory locks of the queue, by name (the numbers mean nothing, and differ). Each is held until the end of its transaction.
-- drover tries them and never waits, since a person at psql may hold one for as long as a transaction stays open.

-- One sweep at a time: held by each call of a sweep_… function.
CREATE OR REPLACE FUNCTION try_lock_sweep() RETURNS boolean LANGUAGE sql AS $f$ SELECT pg_try_advisory_xact_lock(7341) $f$;

-- Held by a transaction that inserts tasks of several stores and takes their reservations: two that did so in opposite orders would
-- deadlock.
CREATE OR REPLACE FUNCTION try_lock_reservations() RETURNS boolean LANGUAGE sql AS $f$ SELECT pg_try_advisory_xact_lock(7344) $f$;

-- One generation of the same work at a time (the tasks of one run of a schedule, the crawls of a day): it looks for open tasks, and must
-- see those that another generation inserts. Of a role with stores all work is one; without stores the schedule's arguments tell it apart.
CREATE OR REPLACE FUNCTION require_generation_lock(role text, work text) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  IF NOT pg_try_advisory_xact_lock(7343, hashtext(concat_ws(' ', role, work))) THEN
    RAISE lock_not_available USING MESSAGE = format('another generation of %s tasks is under way', role);
  END IF;
END $f$;

-- The same lock for people at psql (generate_resync_tasks), who can wait.
CREATE OR REPLACE FUNCTION lock_generation(role text) RETURNS void LANGUAGE sql AS $f$
  SELECT pg_advisory_xact_lock(7343, hashtext(role))
$f$;

-- Held by the transaction that claims with this token (claim_token). A session that cannot take it knows that the claim may still
-- commit.
CREATE OR REPLACE FUNCTION try_lock_claim(token uuid) RETURNS boolean LANGUAGE sql AS $f$
  SELECT pg_try_advisory_xact_lock(hashtextextended(token::text, 7342))
$f$;

-- of earlier versions
DROP FUNCTION IF EXISTS lock_slots();
DROP FUNCTION IF EXISTS lock_generation();
DROP FUNCTION IF EXISTS try_lock_generation(text);
