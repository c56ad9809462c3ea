-- The id identifies this database and stays the same when the database is restored elsewhere. Payload files name the database that they
-- belong to: another database, which has no rows for them, must not take them for leftovers.
CREATE TABLE installation (
  id     uuid NOT NULL DEFAULT gen_random_uuid(),
  single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
INSERT INTO installation DEFAULT VALUES;

-- A session that forgot its COMMIT keeps its locks, and prevents vacuum from removing dead rows. If drover's account owns this database,
-- and the database has no such limit yet, such a session is ended after five minutes. drover's own sessions have a shorter limit; pg_dump
-- switches the limit off for itself.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_database WHERE datname = current_database() AND pg_has_role(datdba, 'USAGE'))
     AND NOT EXISTS (SELECT FROM pg_db_role_setting s
                       JOIN pg_database d ON d.oid = s.setdatabase
                      CROSS JOIN unnest(s.setconfig) AS setting
                      WHERE d.datname = current_database() AND s.setrole = 0
                        AND setting LIKE 'idle\_in\_transaction\_session\_timeout=%') THEN
    EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = %L', current_database(), '5min');
  END IF;
END $$;
