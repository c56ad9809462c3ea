-- exports/is_server_busy.sql: whether another connection to this database runs a statement, or ended one just now. Sessions of other
-- accounts hide their state, and do not count
SELECT EXISTS (
  SELECT FROM pg_stat_activity
   WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
     AND (state = 'active' OR state_change > clock_timestamp() - interval '20 milliseconds')
)
