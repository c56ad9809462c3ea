-- Number of tables of other programs, and one of them, in a database that has none of drover's. Tables of
-- extensions do not count.
SELECT count(*) AS tables, coalesce(min(c.relname), '') AS example
  FROM pg_class c
 WHERE c.relkind IN ('r', 'p') AND c.relnamespace = to_regnamespace(current_schema())
   AND to_regclass('schema_objects') IS NULL
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
