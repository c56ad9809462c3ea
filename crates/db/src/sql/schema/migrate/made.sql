-- The migrations that were applied and the objects that were made. Rows of a program that knew no revisions
-- are of revision 0.
SELECT 'migration' AS kind,
       version AS number,
       name,
       checksum,
       -- json_time may not exist yet
       least(greatest(applied_at, '0001-01-01Z'), '9999-12-31Z') AS applied_at
  FROM schema_migrations
UNION ALL
SELECT 'object', coalesce((to_jsonb(o) ->> 'revision')::int, 0), name, checksum, NULL
  FROM schema_objects o
 ORDER BY 1, 2
