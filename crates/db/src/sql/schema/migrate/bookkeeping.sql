-- applied migrations and objects; the runner itself makes these tables, before any migration
SET LOCAL client_min_messages = warning;
CREATE TABLE IF NOT EXISTS schema_migrations (
  version int PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS schema_objects (
  name text PRIMARY KEY,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
DO $$
BEGIN
  -- ADD COLUMN IF NOT EXISTS locks even where it exists
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'schema_objects'::regclass AND attname = 'revision') THEN
    ALTER TABLE schema_objects ADD COLUMN revision int NOT NULL DEFAULT 0;
  END IF;
END $$;
