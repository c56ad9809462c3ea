-- schema/installation/database.sql: identifies this database within its server; whether the server's own identifier
-- may be read.
SELECT concat_ws(' ', installation.id, pg_database.oid) AS database,
       coalesce(has_function_privilege(to_regprocedure('pg_control_system()'), 'EXECUTE'), false) AS may_read_server
  FROM installation, pg_database
 WHERE pg_database.datname = current_database();
