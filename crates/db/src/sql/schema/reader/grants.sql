-- Opens drover_v1 of this database, for its owner: to read it, and the views and functions that later releases add.
GRANT USAGE ON SCHEMA drover_v1 TO drover_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA drover_v1 TO drover_reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA drover_v1 TO drover_reader;
DO $$
DECLARE owner regrole := (SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'drover_v1');
BEGIN
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA drover_v1 GRANT SELECT ON TABLES TO drover_reader', owner);
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA drover_v1 GRANT EXECUTE ON FUNCTIONS TO drover_reader', owner);
END $$;
