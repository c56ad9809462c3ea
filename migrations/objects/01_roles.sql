-- The roles, listed once for SQL. `Role` (domain/role.rs) must list the same roles; a test compares them.

-- `notify` serves media jobs, and is in this family because workers of all crawl roles claim it, too.
CREATE OR REPLACE FUNCTION crawl_roles() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT ARRAY['store_discovery', 'entry_point_discovery', 'product_discovery', 'payload_fetch', 'product_refresh',
               'analytics_refresh', 'notify']
$f$;

CREATE OR REPLACE FUNCTION media_roles() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT ARRAY['scrape_account', 'download_media', 'paid_content_sync', 'paid_content_creator', 'forum_scrape',
               'youtube_monitor', 'easynews_monitor', 'appearances_sync']
$f$;

-- The family of a role, for the index of ready tasks by family. 0003_queue.sql says why the function lists the roles itself.
DO $do$
BEGIN
  EXECUTE format($sql$
    CREATE OR REPLACE FUNCTION role_family(role text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
    BEGIN
      RETURN CASE WHEN role = ANY (%L::text[]) THEN 'crawl' ELSE 'media' END;
    END $f$ $sql$, crawl_roles());
END $do$;

-- The CHECK of worker_tasks lists the roles itself, so that an UPDATE calls no function. It is replaced only when a role was added or
-- removed, because that takes an exclusive lock.
DO $do$
DECLARE
  wanted text := format('CHECK ((role = ANY (%L::text[])))', crawl_roles() || media_roles());
  roles_now text := obj_description((SELECT oid FROM pg_constraint
                                      WHERE conname = 'worker_tasks_role_check' AND conrelid = 'worker_tasks'::regclass),
                                    'pg_constraint');
BEGIN
  IF roles_now IS NOT DISTINCT FROM wanted THEN RETURN; END IF;
  ALTER TABLE worker_tasks DROP CONSTRAINT IF EXISTS worker_tasks_role_check;
  EXECUTE format('ALTER TABLE worker_tasks ADD CONSTRAINT worker_tasks_role_check %s', wanted);
  EXECUTE format('COMMENT ON CONSTRAINT worker_tasks_role_check ON worker_tasks IS %L', wanted);
END $do$;
