-- The functions of these names. $1 names
SELECT proname::text AS name,
       oid::regprocedure::text AS signature,
       xmin::text AS version
  FROM pg_proc
 WHERE proname = ANY ($1::text[])
   AND pronamespace = current_schema()::regnamespace
