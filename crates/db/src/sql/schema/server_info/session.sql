-- schema/server_info/session.sql: the settings of a session outside of transactions; times in ms, 0 = no limit
SELECT current_setting('TimeZone') AS time_zone, current_setting('default_transaction_isolation') AS isolation,
       current_setting('jit')::boolean AS jit,
       (SELECT setting::bigint FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout_ms,
       (SELECT setting::bigint FROM pg_settings WHERE name = 'lock_timeout') AS lock_timeout_ms
