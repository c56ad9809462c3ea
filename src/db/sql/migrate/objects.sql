-- The objects that were made. Rows of a program that knew no revisions are of revision 0.
SELECT name,
       checksum,
       coalesce((to_jsonb(o) ->> 'revision')::int, 0) AS revision
  FROM schema_objects o
