-- Whether the commit of the calling transaction waits for the disk.

-- It does. A session that chose 'off' is overruled; stricter choices, such as waiting for a standby, stay.
CREATE OR REPLACE FUNCTION commit_synchronously() RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
END $f$;

-- It does not: what the transaction wrote may be forgotten by a server that crashes within a second.
CREATE OR REPLACE FUNCTION commit_asynchronously() RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
END $f$;
