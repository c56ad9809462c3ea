-- Sets whether the commit of the calling transaction waits for the disk.

-- The commit waits. This overrides 'off' in the session; stricter choices, such as waiting for a standby, stay.
CREATE OR REPLACE FUNCTION commit_synchronously() RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
END $f$;

-- The commit does not wait: a server that crashes within a second may lose the writes of the transaction.
CREATE OR REPLACE FUNCTION commit_asynchronously() RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
END $f$;
