-- Products are found despite spelling mistakes where the server has the extension pg_trgm and lets this account create it; else by words alone.
-- It may be added later: see docs/runbook.md.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX product_search_trigrams ON product_search USING gin (text gin_trgm_ops);
EXCEPTION
  WHEN insufficient_privilege OR feature_not_supported OR undefined_file OR undefined_object THEN
    RAISE NOTICE 'products are searched by words alone: %', SQLERRM;
END $$;
