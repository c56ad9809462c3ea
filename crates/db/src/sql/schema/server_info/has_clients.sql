-- schema/server_info/has_clients.sql: whether any client except an observer is connected. $1 an observer's
-- application_name
SELECT EXISTS (
  SELECT FROM pg_stat_activity
   WHERE backend_type = 'client backend' AND application_name <> $1
)
