-- schema/installation/server.sql: the identifier that a server gets when it is initialised.
SELECT system_identifier::text FROM pg_control_system();
