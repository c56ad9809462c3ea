-- The role drover_reader, which may read drover_v1 alone, and the login READER in it. Roles are of the whole server. A role's settings do not
-- pass to its members, so each login has its own; READER may change them in its session, but not its rights.
DO $$
BEGIN
  CREATE ROLE drover_reader NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;      -- for another database, or by another session at once
END $$;
CREATE ROLE "READER" LOGIN CONNECTION LIMIT 3 IN ROLE drover_reader;
ALTER ROLE "READER" SET default_transaction_read_only = on;
-- shorter than a migration tries to get a lock, and no reader keeps dead rows of the queue for longer
ALTER ROLE "READER" SET statement_timeout = '20s';
ALTER ROLE "READER" SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE "READER" SET lock_timeout = '2s';
ALTER ROLE "READER" SET work_mem = '16MB';
ALTER ROLE "READER" SET max_parallel_workers_per_gather = 0;
ALTER ROLE "READER" SET jit = off;
ALTER ROLE "READER" SET timezone = 'UTC';
ALTER ROLE "READER" SET search_path = drover_v1;
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    ALTER ROLE "READER" SET transaction_timeout = '25s';
  END IF;
  IF has_parameter_privilege('temp_file_limit', 'SET') THEN      -- by default, of superusers alone
    ALTER ROLE "READER" SET temp_file_limit = '1GB';
  END IF;
END $$;
