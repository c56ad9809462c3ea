-- Workers of any role claim from the crawl family: its ready tasks, best first, without a look at the backlog of another family.
-- Held to crawl_roles() and media_roles() by objects/01_roles.sql. It names the roles itself, since a restore of a dump finds no other
-- function, and is no SQL function, since an inlined one would be compared with the index by its text. A role keeps its family for ever.
CREATE OR REPLACE FUNCTION role_family(role text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN CASE WHEN role = ANY ('{store_discovery,entry_point_discovery,product_discovery,payload_fetch,product_refresh,analytics_refresh}')
              THEN 'crawl' ELSE 'media' END;
END $f$;

CREATE INDEX worker_tasks_ready_by_family ON worker_tasks (role_family(role), priority DESC, id) WHERE status = 'pending' AND ready;
DROP INDEX idx_worker_tasks_pending_any;
