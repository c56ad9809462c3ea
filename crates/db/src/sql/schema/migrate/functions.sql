-- The functions of these names, those of drover_v1 with their schema. $1 names
SELECT f.name,
       f.oid::regprocedure::text AS signature,
       f.version
  FROM (SELECT CASE WHEN pronamespace = current_schema()::regnamespace THEN proname::text ELSE 'drover_v1.' || proname END AS name,
               oid,
               xmin::text AS version
          FROM pg_proc
         WHERE pronamespace IN (current_schema()::regnamespace, to_regnamespace('drover_v1'))) f
 WHERE f.name = ANY ($1::text[])
