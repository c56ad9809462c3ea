-- The advisory locks of the queue, by name. Each is held until the end of its transaction. What drover runs only tries them, since
-- a person at psql may hold one for as long as a session stays open.

-- One sweep at a time.
CREATE OR REPLACE FUNCTION try_lock_sweep() RETURNS boolean LANGUAGE sql AS $f$ SELECT pg_try_advisory_xact_lock(7341) $f$;

-- One batch at a time takes reservations of several stores while it inserts tasks: two in opposite orders would wait for each other.
CREATE OR REPLACE FUNCTION try_lock_reservations() RETURNS boolean LANGUAGE sql AS $f$ SELECT pg_try_advisory_xact_lock(7344) $f$;

-- One generation of a role at a time: the one that looks for open tasks must see those that another is inserting.
CREATE OR REPLACE FUNCTION try_lock_generation(role text) RETURNS boolean LANGUAGE sql AS $f$
  SELECT pg_try_advisory_xact_lock(7343, hashtext(role))
$f$;

-- For people at psql, who can wait.
CREATE OR REPLACE FUNCTION lock_generation(role text) RETURNS void LANGUAGE sql AS $f$
  SELECT pg_advisory_xact_lock(7343, hashtext(role))
$f$;

-- Held by the transaction that claims with this token: as long as another session cannot take it, that claim may still commit.
CREATE OR REPLACE FUNCTION try_lock_claim(token uuid) RETURNS boolean LANGUAGE sql AS $f$
  SELECT pg_try_advisory_xact_lock(hashtextextended(token::text, 7342))
$f$;

DROP FUNCTION IF EXISTS lock_slots();
DROP FUNCTION IF EXISTS lock_generation();
